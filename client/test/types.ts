// What the compiler promises. It is compiled, and never run.

import {
  AnimalStore,
  type AnimalStoreError,
  type ApiResponse,
  type Key,
  type Order,
  type Pet,
  RateLimitError,
  type ResultPage,
  type WebhookEvent,
} from 'animal-store-client';

type Same<One, Other> = [One, Other] extends [Other, One] ? true : false;
type Sure<Fact extends true> = Fact;

// An int64 is whichever holds it; a smaller integer is a number; what is optional may be absent.
export type Facts = [
  Sure<Same<Pet['id'], number | bigint>>,
  Sure<Same<Pet['categoryId'], number | bigint>>,
  Sure<Same<Pet['status'], 'available' | 'pending' | 'sold' | undefined>>,
  Sure<Same<Order['petId'], number | bigint>>,
  Sure<Same<Order['quantity'], number>>,
  Sure<Same<Order['shipDate'], string | undefined>>,
  Sure<Same<AnimalStoreError['status'], number | null>>,
];

// A program that emits declarations can name what the client has.
export const resources = (store: AnimalStore) => ({ pets: store.pets, keys: store.admin.keys });

// `type` tells events apart.
export const subject = (event: WebhookEvent): string | null =>
  event.type === 'key.revoked' ? event.data.keyId : null;

export async function calls(store: AnimalStore, signal: AbortSignal): Promise<void> {
  const page: ResultPage<Pet> = await store.pets.list({ limit: 3, status: 'sold' }, { signal });
  const named: ResultPage<Pet> = await store.pets.list({ id: [7n, 9, ...page.items.map(({ id }) => id)] });
  await store.pets.create(
    { name: 'x', categoryId: named.items[0]?.id ?? 1n },
    { idempotencyKey: 'x', signal },
  );
  for await (const order of store.orders.list({ status: 'placed' })) {
    const same: Order = order;
    await store.orders.create({ petId: same.petId, quantity: same.quantity });
  }
  const { data, rateLimit }: ApiResponse<Pet> = await store.pets
    .create({ name: 'x', categoryId: 1 })
    .withResponse();
  const remaining: number | undefined = rateLimit.find(({ name }) => name === 'minute')?.remaining;
  const promised: Promise<Pet> = store.pets.create({ name: data.name, categoryId: remaining ?? 1 });
  await promised.catch((error: unknown) => (error instanceof RateLimitError ? error.retryAfterMs : null));
  for await (const key of store.admin.keys.list({ banned: true, state: 'rotating', search: 'shop' })) {
    const same: Key = key;
    await store.admin.quotas.unban(same.quotaId, { signal });
  }
  // @ts-expect-error: a name is required
  await store.admin.keys.issue({ plan: 'pro' });
  // @ts-expect-error: there is no such status
  await store.pets.list({ status: 'lost' });
  // @ts-expect-error: several identifiers are a list
  await store.pets.list({ id: 7n });
  // @ts-expect-error: there is no such filter
  await store.pets.list({ name: 'Biscuit' });
  // @ts-expect-error: a category is required
  await store.pets.create({ name: 'x' });
  // @ts-expect-error: an identifier is no text
  await store.pets.create({ name: 'x', categoryId: '7' });
  // @ts-expect-error: a key is required
  store = new AnimalStore({ baseUrl: 'https://api.animal-store.example/v1' });
}
