import { createHash } from 'node:crypto';
import { groupBy } from './group.js';
import type { Claim } from './claim.js';
import type { Evidence, Request, RecordFields } from './evidence.js';

const RESOURCES = {
  '/v1/pets': { table: 'pets', columns: { name: 'name', categoryId: 'category_id', status: 'status' } },
  '/v1/store/orders': {
    table: 'orders',
    columns: { petId: 'pet_id', quantity: 'quantity', shipDate: 'ship_date' },
  },
} as const;

/**
 * Every acknowledged creation is there once, as sent, and is found so from then on; one `Idempotency-Key`
 * makes one record, and has one body.
 *
 * @param forbidden requests that must have had no effect, though no response says so.
 */
export function checkCreations(evidence: Evidence, forbidden: Set<Request>, claim: Claim): void {
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
    checkRows(
      evidence[table],
      sent.filter((request) => !forbidden.has(request)),
      table,
      claim,
    );
    checkStoredResponses(evidence, acknowledged, claim);
    checkReads(evidence, path, acknowledged, claim);
  }
}

/** Returns the text of a value by which two are compared; of a date, that of its instant. */
function toText(field: string, value: RecordFields[string] | undefined): string {
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
    const isSame = (row: RecordFields | undefined) =>
      row !== undefined && sha256(row['body']) === digest && row['location'] === (headers.location ?? null);
    claim.check(rows.some(isSame), () => `${id} got another response than is stored for ${idempotencyKey}`);
  }
}

const sha256 = (text: RecordFields[string] | undefined) =>
  createHash('sha256').update(String(text)).digest('hex');

/** An acknowledged record is found from then on, and as it was created. */
function checkReads({ requests }: Evidence, path: string, acknowledged: Request[], claim: Claim): void {
  const acknowledgedMs = new Map<string, number>();
  const digests = new Map<string, string | null>();
  for (const { recordId, receivedMs, digest } of acknowledged) {
    const record = `${path}/${recordId}`;
    acknowledgedMs.set(record, Math.min(receivedMs ?? Infinity, acknowledgedMs.get(record) ?? Infinity));
    digests.set(record, digest);
  }
  for (const { id, method, path: record, sentMs, status, digest } of requests) {
    if (method !== 'GET') {
      continue;
    }
    if (sentMs > (acknowledgedMs.get(record) ?? Infinity)) {
      claim.check(status !== 404, () => `${id} did not find ${record}, which was acknowledged before`);
    }
    if (status === 200 && digest !== null && digests.has(record)) {
      claim.check(digest === digests.get(record), () => `${id} got another ${record} than was created`);
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

/** The table contains no record that was never sent or was denied, and at most one of each owner. */
function checkRows(rows: RecordFields[], sent: Request[], table: 'pets' | 'orders', claim: Claim): void {
  sent.filter(({ receivedMs }) => receivedMs === null).forEach(() => claim.weaken());
  const accepted = sent.filter(({ status }) => status === null || status < 400 || status >= 500);
  const { nameRow, nameRequest } = NAMES[table];
  const ownersOf = groupBy(accepted, ({ request }) => nameRequest(request ?? {}));
  const nameOwners = (name: string) => new Set((ownersOf.get(name) ?? []).map(toOwner));
  const rowsOf = groupBy(rows, nameRow);
  for (const [name, named] of rowsOf) {
    const owners = nameOwners(name);
    const describe = () => `${table} ${named.map(({ id }) => String(id)).join(', ')}, "${name}", `;
    claim.check(owners.size > 0, () => `${describe()}was sent by nobody, or denied`);
    claim.check(
      owners.size === 0 || named.length <= owners.size,
      () => `${describe()}were sent by ${owners.size} owners`,
    );
  }
  if (table === 'pets') {
    // A name is sent by one owner only, but one that sent two bodies has two names.
    const found = [...rowsOf.keys()].flatMap((name) =>
      [...nameOwners(name)].map((owner) => ({ name, owner })),
    );
    for (const [owner, names] of groupBy(found, (each) => each.owner)) {
      claim.check(
        names.length === 1,
        () => `${owner} created ${names.map(({ name }) => name).join(' and ')}`,
      );
    }
  }
}

const toOrder = (petId: unknown, quantity: unknown, shipDate: RecordFields[string] | undefined) =>
  `${String(petId)}, ${String(quantity)}, ${toText('shipDate', shipDate)}`;

/** The names by which a record is found among the requests that may have created it. */
const NAMES = {
  pets: {
    nameRow: (row: RecordFields) => String(row['name']),
    nameRequest: (request: RecordFields) => String(request['name']),
  },
  orders: {
    nameRow: (row: RecordFields) => toOrder(row['pet_id'], row['quantity'], row['ship_date']),
    nameRequest: (request: RecordFields) =>
      toOrder(request['petId'], request['quantity'], request['shipDate']),
  },
};
