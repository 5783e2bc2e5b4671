import { createHash } from 'node:crypto';
import { groupBy } from './group.js';
import type { Claim } from './claim.js';
import type { Evidence, Request, Row } from './evidence.js';

const RESOURCES = {
  '/v1/pets': { table: 'pets', columns: { name: 'name', categoryId: 'category_id', status: 'status' } },
  '/v1/store/orders': {
    table: 'orders',
    columns: { petId: 'pet_id', quantity: 'quantity', shipDate: 'ship_date' },
  },
} as const;

/**
 * Every acknowledged creation is there once, as sent; one `Idempotency-Key` makes one record, and has one
 * body.
 */
export function checkCreations(evidence: Evidence, claim: Claim): void {
  for (const [path, { table, columns }] of Object.entries(RESOURCES)) {
    const sent = evidence.requests.filter((request) => request.method === 'POST' && request.path === path);
    const acknowledged = sent.filter(({ status, recordId }) => status === 201 && recordId !== null);
    const rows = new Map(evidence[table].map((row) => [String(row['id']), row]));
    for (const { id, request, recordId } of acknowledged) {
      const row = rows.get(recordId as string);
      const differing = Object.entries(columns).find(
        ([field, column]) => toText(field, request?.[field]) !== toText(field, row?.[column]),
      );
      claim.check(
        row !== undefined && differing === undefined,
        () =>
          `${id} created ${table} ${recordId}, which is ` +
          (row === undefined ? 'lost' : `another: ${differing?.[0]}`),
      );
    }
    checkOwners(acknowledged, table, claim);
    checkRows(evidence, sent, table, claim);
    checkStoredResponses(evidence, acknowledged, claim);
    checkReads(evidence, path, acknowledged, claim);
  }
}

/** Returns the text of a value by which two are compared; of a date, that of its instant. */
function toText(field: string, value: Row[string] | undefined): string {
  const isDate = field.endsWith('Date') && typeof value === 'string';
  return isDate ? new Date(value).toISOString() : String(value ?? null);
}

/** The response that is stored for an `Idempotency-Key` is the one that was sent. */
function checkStoredResponses(evidence: Evidence, acknowledged: Request[], claim: Claim): void {
  // An issue whose response was lost may have left another quota with a key of the same name.
  const quotaIds = groupBy(evidence.keys, ({ name }) => name);
  const names = new Map(
    evidence.changes.filter(({ change }) => change === 'issue').map(({ quota, key }) => [quota, key]),
  );
  const stored = new Map(evidence.storedResponses.map((row) => [`${row['quota_id']} ${row['key']}`, row]));
  for (const { id, quota, idempotencyKey, digest, headers } of acknowledged) {
    if (idempotencyKey === null || quota === null) {
      continue;
    }
    const keys = quotaIds.get(names.get(quota) ?? null) ?? [];
    const rows = keys.map((key) => stored.get(`${key['quota_id']} ${idempotencyKey}`));
    const isSame = (row: Row | undefined) =>
      row !== undefined && sha256(row['body']) === digest && row['location'] === (headers.location ?? null);
    claim.check(rows.some(isSame), () => `${id} got another response than is stored for ${idempotencyKey}`);
  }
}

const sha256 = (text: Row[string] | undefined) => createHash('sha256').update(String(text)).digest('hex');

/** An acknowledged record is found from then on. */
function checkReads({ requests }: Evidence, path: string, acknowledged: Request[], claim: Claim): void {
  const acknowledgedMs = new Map<string, number>();
  for (const { recordId, receivedMs } of acknowledged) {
    const record = `${path}/${recordId}`;
    acknowledgedMs.set(record, Math.min(receivedMs ?? Infinity, acknowledgedMs.get(record) ?? Infinity));
  }
  for (const { id, method, path: record, sentMs, status } of requests) {
    if (method === 'GET' && sentMs > (acknowledgedMs.get(record) ?? Infinity)) {
      claim.check(status !== 404, () => `${id} did not find ${record}, which was acknowledged before`);
    }
  }
}

/** Returns what may have created one record: an `Idempotency-Key` of a quota, or a request without one. */
function toOwner({ id, quota, idempotencyKey }: Request): string {
  return idempotencyKey === null ? id : `the Idempotency-Key ${idempotencyKey} of ${quota}`;
}

/**
 * No two owners have one record. All responses to one owner are the same, and all but one are marked as
 * replayed.
 */
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

/** The table has no record that nobody sent or that was denied, and no record twice. */
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
