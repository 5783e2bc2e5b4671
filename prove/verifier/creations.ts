import { groupBy } from './group.js';
import type { Claim } from './claim.js';
import type { Evidence, Request } from './evidence.js';

const RESOURCES = {
  '/v1/pets': { table: 'pets', columns: { name: 'name', categoryId: 'category_id', status: 'status' } },
  '/v1/store/orders': { table: 'orders', columns: { petId: 'pet_id', quantity: 'quantity' } },
} as const;

/** Every acknowledged creation is there once, as sent; one `Idempotency-Key` makes one record, and has one body. */
export function checkCreations(evidence: Evidence, claim: Claim): void {
  for (const [path, { table, columns }] of Object.entries(RESOURCES)) {
    const sent = evidence.requests.filter((request) => request.method === 'POST' && request.path === path);
    const acknowledged = sent.filter(({ status, recordId }) => status === 201 && recordId !== null);
    const rows = new Map(evidence[table].map((row) => [String(row['id']), row]));
    for (const { id, request, recordId } of acknowledged) {
      const row = rows.get(recordId as string);
      const differing = Object.entries(columns).find(
        ([field, column]) => String(request?.[field] ?? null) !== String(row?.[column] ?? null),
      );
      claim.check(
        row !== undefined && differing === undefined,
        () =>
          `${id} created ${table} ${recordId}, which is ${row === undefined ? 'lost' : `another: ${differing?.[0]}`}`,
      );
    }
    checkOwners(acknowledged, table, claim);
    checkRows(evidence, sent, table, claim);
  }
}

/** Returns what may have created one record: an `Idempotency-Key` of a quota, or a request without one. */
function toOwner({ id, quota, idempotencyKey }: Request): string {
  return idempotencyKey === null ? id : `the Idempotency-Key ${idempotencyKey} of ${quota}`;
}

/** No two owners have one record. All responses to one owner are the same, and all but one are marked as replayed. */
function checkOwners(acknowledged: Request[], table: string, claim: Claim): void {
  const owners = new Map<string, string>();
  for (const request of acknowledged) {
    const owner = toOwner(request);
    const before = owners.get(request.recordId as string) ?? owner;
    claim.check(before === owner, () => `${before} and ${owner} both created ${table} ${request.recordId}`);
    owners.set(request.recordId as string, owner);
  }
  for (const [owner, responses] of groupBy(acknowledged, toOwner)) {
    const bodies = new Set(responses.map(({ digest }) => digest));
    claim.check(
      bodies.size === 1,
      () => `${owner} has ${bodies.size} responses: ${responses.map(({ id }) => id).join(', ')}`,
    );
    const first = responses.filter(({ headers }) => headers.replayed === undefined).map(({ id }) => id);
    claim.check(first.length <= 1, () => `${owner} was created by each of ${first.join(', ')}`);
  }
}

/** The table has no record that nobody sent, none that was denied, and none twice. */
function checkRows(evidence: Evidence, sent: Request[], table: 'pets' | 'orders', claim: Claim): void {
  const accepted = sent.filter(({ status }) => status === null || status < 400 || status >= 500);
  const owners = new Set(accepted.map(toOwner));
  sent.filter(({ receivedMs }) => receivedMs === null).forEach(() => claim.weaken());
  claim.check(
    evidence[table].length <= owners.size,
    () => `${table} has ${evidence[table].length} records, of ${owners.size} at most`,
  );
  if (table === 'orders') {
    return;
  }
  // A name is sent by one owner only.
  const names = new Set(accepted.map(({ request }) => request?.['name']));
  for (const [name, rows] of groupBy(evidence.pets, (row) => row['name'] as string)) {
    claim.check(names.has(name), () => `pets ${rows[0]?.['id']}, "${name}", was sent by nobody, or denied`);
    claim.check(
      rows.length === 1,
      () => `pets ${rows.map((row) => String(row['id'])).join(', ')} are all "${name}", which one owner sent`,
    );
  }
}
