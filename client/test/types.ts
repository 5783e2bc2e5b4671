// What the compiler promises. It is compiled, and never run.

import {
  AnimalStore,
  type AnimalStoreError,
  type ApiResponse,
  type Key,
  type Order,
  type Page,
  type Pet,
  RateLimitError,
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

export async function calls(store: AnimalStore, signal: AbortSignal): Promise<void> {
  const page: Page<Pet> = await store.listPets({ limit: 3, status: 'sold' }, { signal });
  const named: Page<Pet> = await store.listPets({ id: [7n, 9, ...page.items.map(({ id }) => id)] });
  await store.createPet({ name: 'x', categoryId: named.items[0]?.id ?? 1n }, { idempotencyKey: 'x', signal });
  for await (const order of store.orders({ status: 'placed' })) {
    const same: Order = order;
    await store.createOrder({ petId: same.petId, quantity: same.quantity });
  }
  const { data, limits }: ApiResponse<Pet> = await store
    .createPet({ name: 'x', categoryId: 1 })
    .withResponse();
  const remaining: number | undefined = limits.find(({ name }) => name === 'minute')?.remaining;
  const promised: Promise<Pet> = store.createPet({ name: data.name, categoryId: remaining ?? 1 });
  await promised.catch((error: unknown) => (error instanceof RateLimitError ? error.retryAfterMs : null));
  for await (const key of store.admin.keys.list({ banned: true, state: 'rotating', search: 'shop' })) {
    const same: Key = key;
    await store.admin.keys.unban(same.id, { signal });
  }
  // @ts-expect-error: a name is required
  await store.admin.keys.issue({ plan: 'pro' });
  // @ts-expect-error: there is no such status
  store.pets({ status: 'lost' });
  // @ts-expect-error: several identifiers are a list
  store.pets({ id: 7n });
  // @ts-expect-error: there is no such filter
  store.pets({ name: 'Biscuit' });
  // @ts-expect-error: a category is required
  await store.createPet({ name: 'x' });
  // @ts-expect-error: an identifier is no text
  await store.createPet({ name: 'x', categoryId: '7' });
  // @ts-expect-error: a key is required
  store = new AnimalStore({ baseUrl: 'https://api.animal-store.example/v1' });
}
