import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Change, Evidence, Fault, Request } from '../../chaos/verifier/evidence.js';
import { readEvidence } from '../../chaos/verifier/evidence.js';
import { greatestOf, leastOf } from '../../chaos/verifier/extremes.js';
import { notHeld, verify } from '../../chaos/verify.js';
import { denialsBeforeBan } from '../support/keys/bans.js';
import { SERVED } from './served-request.js';

/** The monotonic time at which a minute of the wall clock begins. */
const MINUTE_MS = 600_000;
const NOON_MS = Date.UTC(2026, 10, 24, 12);
const LIMIT = 3;
/** The response of a request that had none. */
const LOST = { receivedMs: null, status: null, recordId: null, digest: null, headers: {} };
const DAY_LIMIT = 1000;

let evidence: Evidence;
let sent: number;

beforeEach(() => {
  sent = 0;
  evidence = {
    run: {
      store: 'postgres',
      banDurations: [5, 10, 20],
      clock: { nowMs: NOON_MS, monotonicMs: MINUTE_MS },
    },
    requests: [],
    changes: [change({ change: 'issue', sentMs: 0, receivedMs: 10, status: 201 })],
    faults: [],
    pets: [],
    orders: [],
    keys: [],
    storedResponses: [],
    failedRequests: [],
  };
});

function change(fields: Partial<Change>): Change {
  return {
    kind: 'change',
    sentMs: MINUTE_MS,
    receivedMs: MINUTE_MS + 10,
    change: 'plan',
    key: 'k1',
    quota: 'q1',
    perMinute: LIMIT,
    perDay: DAY_LIMIT,
    endsAt: null,
    status: 200,
    ...fields,
  };
}

const fault = (fields: Partial<Fault>): Fault => ({
  kind: 'fault',
  startMs: MINUTE_MS,
  causedMs: fields.startMs ?? MINUTE_MS,
  endMs: MINUTE_MS + 100,
  fault: 'store-kill',
  target: 'postgres',
  ...fields,
});

/** Returns the headers of a response by what remains of each window, in a second of this monotonic time. */
function report(sentMs: number, minute: { q: number; r: number }, day?: { q: number; r: number }) {
  const second = Math.floor((NOON_MS + sentMs - MINUTE_MS) / 1000);
  const windows = [
    { ...minute, w: 60, t: 60 - (second % 60) },
    { ...(day ?? minute), w: 86_400, t: 86_400 - (second % 86_400) },
  ] as const;
  const { q, r, t } = windows.reduce((one, other) => (other.r <= one.r ? other : one));
  const reported = { limit: q, remaining: r, reset: second + t, minute: windows[0] };
  return day === undefined ? reported : { ...reported, day: windows[1] };
}

/** Adds a request with a response of its own, 10 ms after the one before, and returns it. */
function add(fields: Partial<Request> = {}, usedInMinute = 1, usedInDay = usedInMinute): Request {
  sent += 1;
  const sentMs = fields.sentMs ?? MINUTE_MS + 1000 + sent * 10;
  const headers = report(
    sentMs,
    { q: LIMIT, r: Math.max(0, LIMIT - usedInMinute) },
    { q: DAY_LIMIT, r: DAY_LIMIT - usedInDay },
  );
  const request: Request = {
    ...SERVED,
    id: `r${sent}`,
    sentMs,
    receivedMs: sentMs + 5,
    headers: { ...headers, ...(fields.status === 429 && { retryAfter: headers.minute.t }) },
    ...fields,
  };
  evidence.requests.push(request);
  return request;
}

/** Adds requests that use up the minute. */
function useUp(): void {
  for (let used = 1; used <= LIMIT; used += 1) {
    add({}, used);
  }
}

function restrict(scopes: string[] | null, sentMs = MINUTE_MS): void {
  evidence.changes.push(change({ change: 'restrict', scopes, sentMs, receivedMs: sentMs + 10 }));
}

function suspend(kind: 'suspend' | 'resume', sentMs: number, fields: Partial<Change> = {}): void {
  evidence.changes.push(change({ change: kind, sentMs, receivedMs: sentMs + 10, ...fields }));
}

/** Adds a request whose key was rejected: it counts against the address. */
function reject(sentMs: number): void {
  const { headers } = add({ status: 401, code: 'invalid_api_key', sentMs });
  Object.assign(headers, report(sentMs, { q: 300, r: 9 }), { day: undefined });
}

const refuse = (code = 'rate_limit_exceeded') => add({ status: 429, code }, LIMIT);

/** Adds a creation, and the record that it made. */
function create(
  name: string,
  fields: Partial<Request> = {},
  id = String(evidence.pets.length + 1),
  used = evidence.requests.length + 1,
): Request {
  evidence.pets.push({ id, name, category_id: '7', status: null });
  return add(
    { method: 'POST', status: 201, recordId: id, request: { name, categoryId: '7' }, ...fields },
    used,
  );
}

/** Adds a creation with an Idempotency-Key, and the response that is stored for it. */
function createOnce(fields: Partial<Request> = {}, id?: string): Request {
  evidence.keys = [{ name: 'k1', quota_id: 'Q1' }];
  const storedResponse = { quota_id: 'Q1', key: 'once', body: '{}', location: '/v1/pets/1' };
  evidence.storedResponses = [storedResponse];
  const request = create('Rex', { idempotencyKey: 'once', digest: sha256('{}'), ...fields }, id);
  request.headers.location = '/v1/pets/1';
  return request;
}

/** Adds the row that is kept of a request, by default of one that it adds. */
function keepFailure({ id, status, code, sentMs } = add({ status: 404, code: 'not_found' })): void {
  const requestedAt = new Date(NOON_MS + sentMs - MINUTE_MS + 2).toISOString();
  evidence.failedRequests = [{ request_id: id, requested_at: requestedAt, status, code }];
}

/** Has a response report this second of the run's first minute as the end of a ban. */
function setBanEnd({ sentMs, headers }: Request, second: number): void {
  const retryAfter = Math.ceil(second - (sentMs - MINUTE_MS) / 1000);
  Object.assign(headers, { reset: NOON_MS / 1000 + second, remaining: 0, retryAfter });
}

const denyTimes = (count: number) => Array.from({ length: count }, () => refuse());

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

/** Returns the letters of the broken claims. */
const broken = () =>
  verify(evidence)
    .filter((claim) => claim.broken > 0)
    .map(({ letter }) => letter);
const claim = (letter: string) => verify(evidence).find((each) => each.letter === letter)!;

it('verify finds nothing in a sound ledger, and checks every claim', () => {
  useUp();
  denyTimes(denialsBeforeBan(LIMIT) - 1);
  keepFailure(refuse('api_key_banned'));
  evidence.changes.push(change({ change: 'issue', key: 'k2', quota: 'q2', sentMs: 0, receivedMs: 10 }));
  create('Rex', { quota: 'q2', key: 'k2' }, undefined, 1);
  evidence.changes.push(change({ change: 'revoke', key: 'k3', quota: 'q3' }));
  add({
    key: 'k3',
    quota: 'q3',
    status: 401,
    sentMs: MINUTE_MS + 5000,
    headers: report(0, { q: 300, r: 9 }),
  });
  evidence.faults.push(fault({ fault: 'link-cut', target: 'replica-1:postgres', endMs: null }));
  add({ headers: { ...add({}, 0).headers, degraded: true } });
  evidence.requests.splice(-2, 1);
  expect(verify(evidence).flatMap(({ violations }) => violations)).toStrictEqual([]);
  expect(verify(evidence).filter(({ checked }) => checked === 0)).toStrictEqual([]);
});

it('verify accepts that a holder ends a key uncounted, even while no requests remain', () => {
  const revoke = { method: 'POST', path: '/v1/keys/01a22275-eb18-751c-b10f-6a9ab9fc6dfd/revoke' };
  useUp();
  add(revoke, LIMIT);
  add(revoke, LIMIT);
  expect(broken()).toEqual([]);
  add({}, LIMIT);
  expect(broken()).toEqual(['a', 'b']);
});

it('verify finds the extremes of more numbers than arguments of a function fit onto the stack', () => {
  const numbers = Array.from({ length: 150_000 }, (_, index) => index);
  expect([leastOf(numbers, Number), greatestOf(numbers, Number)]).toEqual([0, 149_999]);
});

describe('verify finds by the claim about limits', () => {
  it('a request that is counted in a window of another hour', () => {
    const { headers } = add();
    Object.assign(headers, { reset: Number(headers.reset) + 3600 });
    expect(broken()).toEqual(['a']);
  });

  it('a denial that names the end of another minute, or of another day', () => {
    useUp();
    const { headers } = refuse();
    const { reset = 0, day } = headers;
    headers.reset = reset + 60;
    expect(broken()).toEqual(['a']);
    headers.reset = reset;
    day!.t -= 1;
    expect(broken()).toEqual(['a']);
  });

  it('a request more than the limit', () => {
    useUp();
    add({}, LIMIT + 1);
    // It can only report what the request before it did.
    expect(broken()).toEqual(['a', 'b']);
  });

  it('a limit that is not in force', () => {
    const { sentMs, headers } = add();
    Object.assign(headers, report(sentMs, { q: 9, r: 8 }, { q: DAY_LIMIT, r: 999 }));
    expect(broken()).toEqual(['a']);
  });

  it('a response without a report of the windows that it counts in', () => {
    const { headers } = add();
    delete headers.day;
    expect(broken()).toEqual(['a']);
  });
});

describe('verify finds by the claim about remaining counts', () => {
  it('a count that is reported twice', () => {
    add({}, 1);
    add({ sentMs: MINUTE_MS + 1010 }, 1, 2);
    expect(broken()).toEqual(['b']);
  });

  it('a count that grows along the order of time', () => {
    add({}, 2);
    add({}, 1);
    expect(broken()).toEqual(['b']);
  });

  it('a denial although requests remain', () => {
    const { headers } = add({ status: 429, code: 'rate_limit_exceeded' }, 1);
    headers.retryAfter = 1;
    expect(broken()).toEqual(['b']);
  });

  it('a count that is less than that of a denial before', () => {
    const { headers } = add({ status: 429, code: 'rate_limit_exceeded' }, 2, DAY_LIMIT);
    headers.retryAfter = headers.day!.t;
    add({}, 2, 1);
    expect(broken()).toEqual(['b']);
  });

  it('a denial whose count is less than that of a request before', () => {
    add({}, 2, 1);
    const { headers } = add({ status: 429, code: 'rate_limit_exceeded' }, 1, DAY_LIMIT);
    headers.retryAfter = headers.day!.t;
    expect(broken()).toEqual(['b']);
  });

  it.each<[string, Partial<Request['headers']>]>([
    ['that is no number', { remaining: NaN }],
    ['that is not positive', { reset: 0 }],
    ['of another window than the one with fewer requests remaining', { limit: DAY_LIMIT }],
    ['that differs from the window that it describes', { remaining: 1 }],
    ['of more remaining than the limit', { minute: { q: LIMIT, w: 60, r: LIMIT + 1, t: 59 } }],
    ['of a window that is too long', { minute: { q: LIMIT, w: 61, r: 2, t: 59 } }],
    ['of a window that ends too late', { minute: { q: LIMIT, w: 60, r: 2, t: 61 } }],
  ])('a header %s', (_what, wrong) => {
    Object.assign(add().headers, wrong);
    expect(broken()).toContain('b');
  });

  it('a denial that names another time to wait than the end of the full window', () => {
    useUp();
    refuse().headers.retryAfter = 1;
    expect(broken()).toEqual(['b']);
  });

  it('a ban whose end its Retry-After does not lead to', () => {
    useUp();
    const ban = refuse('api_key_banned');
    setBanEnd(ban, 50);
    expect(broken()).not.toContain('b');
    ban.headers.reset = NOON_MS / 1000 + 53;
    expect(broken()).toContain('b');
  });

  it('a window from which more was taken than was allowed, or may have been', () => {
    add({}, 1);
    const { headers } = add({}, 3);
    expect(broken()).toEqual(['b']);
    headers.degraded = true;
    add({}, 3);
    evidence.faults.push(fault({ fault: 'link-cut', endMs: MINUTE_MS + 5000 }));
    expect(broken()).toStrictEqual([]);
  });

  it('a denial while there is room', () => {
    add({}, LIMIT - 1);
    refuse();
    expect(broken()).toEqual(['b']);
  });
});

describe('verify finds by the claim about creations', () => {
  it('an acknowledged animal that is lost', () => {
    create('Rex');
    evidence.pets = [];
    expect(broken()).toEqual(['c']);
  });

  it('an animal that is not as it was sent', () => {
    create('Rex');
    evidence.pets[0]!['category_id'] = '8';
    expect(broken()).toEqual(['c']);
  });

  it('an order with another ship date', () => {
    const request = { petId: '1', quantity: 2, shipDate: '2027-01-01T00:00:00+01:00' };
    add({ method: 'POST', path: '/v1/store/orders', status: 201, recordId: '5', request });
    const order = { id: '5', pet_id: '1', quantity: 2, ship_date: '2026-12-31T23:00:00.000Z' };
    evidence.orders.push(order);
    expect(broken()).toStrictEqual([]);
    order.ship_date = '2026-12-31T22:00:00.000Z';
    expect(broken()).toEqual(['c']);
  });

  it('an animal that is not found after its acknowledgement', () => {
    create('Rex');
    add({ path: '/v1/pets/1', status: 404 }, 2);
    expect(broken()).toEqual(['c']);
  });

  it('two records of one Idempotency-Key', () => {
    createOnce();
    createOnce();
    expect(broken()).toEqual(['c']);
  });

  it('another body for one Idempotency-Key', () => {
    createOnce();
    createOnce({ digest: 'other', headers: { ...add({}, 2).headers, replayed: true } }, '1');
    evidence.requests.splice(-2, 1);
    evidence.pets.pop();
    expect(broken()).toEqual(['c']);
  });

  it.each([
    ['another body', { body: '{ }' }],
    ['another location', { location: '/v1/pets/2' }],
    ['another quota', { quota_id: 'Q2' }],
  ])('a stored response with %s than the one that was sent', (_what, wrong) => {
    createOnce();
    expect(broken()).toStrictEqual([]);
    Object.assign(evidence.storedResponses[0]!, wrong);
    expect(broken()).toEqual(['c']);
  });

  it('a record of a denied request', () => {
    useUp();
    create('Rex', { recordId: null, status: 429, code: 'rate_limit_exceeded' }, undefined, LIMIT);
    expect(broken()).toEqual(['c']);
  });

  it('two first responses to one Idempotency-Key', () => {
    createOnce();
    createOnce({}, '1');
    evidence.pets.pop();
    expect(broken()).toEqual(['c']);
  });

  it('two records of one Idempotency-Key with two bodies, though one response was lost', () => {
    createOnce();
    add({ method: 'POST', idempotencyKey: 'once', request: { name: 'Max' }, ...LOST });
    add({ method: 'POST', request: { name: 'Tom' }, ...LOST });
    expect(broken()).toStrictEqual([]);
    evidence.pets.push({ id: '9', name: 'Max', category_id: '7', status: null });
    expect(broken()).toEqual(['c']);
  });

  it('an order that was placed twice, though one response was lost', () => {
    const request = { petId: '1', quantity: 2, shipDate: null };
    const order = { method: 'POST', path: '/v1/store/orders', request };
    add({ ...order, idempotencyKey: 'once', ...LOST });
    add({ ...order, idempotencyKey: 'once', ...LOST });
    add({ ...order, request: { ...request, quantity: 3 }, ...LOST });
    evidence.orders.push({ id: '5', pet_id: '1', quantity: 2, ship_date: null });
    expect(broken()).toStrictEqual([]);
    evidence.orders.push({ id: '6', pet_id: '1', quantity: 2, ship_date: null });
    expect(broken()).toEqual(['c']);
  });

  it('an animal that is read otherwise than it was created', () => {
    create('Rex');
    const read = add({ path: '/v1/pets/1' }, 2);
    expect(broken()).toStrictEqual([]);
    read.digest = 'other';
    expect(broken()).toEqual(['c']);
  });

  it('a record of a key that had ended, or could only read, though the response was lost', () => {
    create('Rex', { sentMs: MINUTE_MS + 1500, ...LOST });
    expect(broken()).toStrictEqual([]);
    restrict(['pets:read']);
    expect(broken()).toEqual(['c']);
    evidence.changes[1] = change({ change: 'revoke' });
    expect(broken()).toEqual(['c']);
    evidence.changes[1] = change({ change: 'suspend' });
    expect(broken()).toEqual(['c']);
    suspend('resume', MINUTE_MS + 9000);
    expect(broken()).toStrictEqual([]);
  });

  it('an animal that nobody sent', () => {
    evidence.pets.push({ id: '9', name: 'Tom', category_id: '7', status: null });
    expect(broken()).toEqual(['c']);
  });
});

describe('verify finds by the claim about keys', () => {
  it('a creation by a key that may only read for longer than a second', () => {
    restrict(['pets:read']);
    create('Rex', { sentMs: MINUTE_MS + 1011 });
    expect(broken()).toEqual(['d']);
    restrict(null, MINUTE_MS + 20);
    expect(broken()).toStrictEqual([]);
  });

  it('a key that a holder issued though it may only read', () => {
    restrict(['keys:read']);
    add({ method: 'POST', path: '/v1/keys', status: 201, sentMs: MINUTE_MS + 1500 });
    expect(broken()).toEqual(['d']);
  });

  it.each([null, 'unknown'])('a request that is served with the key %s', (key) => {
    add({ key, quota: null });
    expect(broken()).toEqual(['d']);
  });

  it('a suspended key that is served later than a second after the acknowledgement', () => {
    suspend('suspend', MINUTE_MS);
    add({ sentMs: MINUTE_MS + 1011 });
    expect(broken()).toEqual(['d']);
    suspend('resume', MINUTE_MS + 20);
    expect(broken()).toStrictEqual([]);
  });

  it('a resumed key that is rejected later than a second after the acknowledgement', () => {
    suspend('suspend', MINUTE_MS);
    suspend('resume', MINUTE_MS + 2000);
    reject(MINUTE_MS + 3011);
    expect(broken()).toEqual(['d']);
    suspend('suspend', MINUTE_MS + 3000, { receivedMs: null, status: null });
    expect(broken()).toStrictEqual([]);
  });

  it('a valid key that is rejected', () => {
    reject(MINUTE_MS + 1010);
    expect(broken()).toEqual(['d']);
    evidence.changes.push(change({ change: 'rotate', sentMs: MINUTE_MS + 1000, status: 503 }));
    expect(broken()).toStrictEqual([]);
  });

  it('a revoked key that is served later than a second after the acknowledgement', () => {
    evidence.changes.push(change({ change: 'revoke' }));
    add({ sentMs: MINUTE_MS + 1500 });
    expect(broken()).toEqual(['d']);
  });

  it('an expired key that is served', () => {
    evidence.changes[0]!.endsAt = new Date(NOON_MS).toISOString();
    add({ sentMs: MINUTE_MS + 1500 });
    expect(broken()).toEqual(['d']);
  });

  it('an expired key that is served by a replica whose clock is off', () => {
    evidence.changes[0]!.endsAt = new Date(NOON_MS).toISOString();
    evidence.faults.push(fault({ fault: 'clock-skew', target: 'replica-1', endMs: MINUTE_MS + 3000 }));
    add({ sentMs: MINUTE_MS + 1500 });
    expect(broken()).toEqual(['d']);
  });
});

describe('verify finds by the claim about bans', () => {
  it('a ban that starts a denial too early', () => {
    useUp();
    denyTimes(denialsBeforeBan(LIMIT) - 2);
    refuse('api_key_banned');
    expect(broken()).toEqual(['e']);
  });

  it('a request that is allowed while a ban lasts', () => {
    useUp();
    denyTimes(denialsBeforeBan(LIMIT) - 1);
    setBanEnd(refuse('api_key_banned'), 120);
    add({ sentMs: MINUTE_MS + 61_000 }, 1, LIMIT + 1);
    expect(broken()).toEqual(['e']);
    evidence.faults.push(fault({ startMs: MINUTE_MS + 60_000, endMs: MINUTE_MS + 60_100 }));
    // A crash forgets no ban that was seen long before.
    expect(broken()).toEqual(['e']);
  });

  it('a ban that does not start', () => {
    useUp();
    denyTimes(denialsBeforeBan(LIMIT));
    expect(broken()).toEqual(['e']);
  });
});

describe('verify finds by the claim about exceptions', () => {
  const decideLocally = () => {
    const request = add({});
    request.headers.degraded = true;
  };

  it('a crash that forgot more than its last second, though no limit is exceeded', () => {
    useUp();
    evidence.faults.push(fault({ startMs: MINUTE_MS + 5000, endMs: MINUTE_MS + 5100 }));
    add({ sentMs: MINUTE_MS + 6000 }, LIMIT - 1, LIMIT + 1);
    evidence.requests[0]!.receivedMs = null;
    expect(broken()).toEqual(['f']);
  });

  it('a local decision while nothing kept the replica from its store', () => {
    decideLocally();
    expect(broken()).toEqual(['f']);
  });

  it('a local decision once a replica should have replaced a connection that lost its replies', () => {
    evidence.faults.push(
      fault({ fault: 'link-half-open', target: 'replica-1:postgres', endMs: MINUTE_MS + 500 }),
    );
    // It replaces the connection up to 4 s after the loss, however short the fault was, and has two seconds
    // then.
    const request = add({ sentMs: MINUTE_MS + 6000 });
    request.headers.degraded = true;
    expect(broken()).toStrictEqual([]);
    request.sentMs += 1;
    expect(broken()).toEqual(['f']);
  });

  it('a local decision while a link only delays for less than a query may take', () => {
    const slow = fault({ fault: 'link-slow', target: 'replica-1:postgres', endMs: null, byMs: 300 });
    evidence.faults.push(slow);
    decideLocally();
    expect(broken()).toStrictEqual([]);
    slow.byMs = 100;
    expect(broken()).toEqual(['f']);
  });

  it('more than one limit that a replica allowed by itself', () => {
    evidence.faults.push(fault({ fault: 'link-cut', target: 'replica-1:postgres', endMs: null }));
    for (let count = 0; count <= LIMIT; count += 1) {
      decideLocally();
    }
    expect(broken()).toEqual(['f']);
  });

  it('more beyond a limit than a crash may have forgotten', () => {
    useUp();
    evidence.faults.push(fault({ startMs: MINUTE_MS + 3000, endMs: MINUTE_MS + 3100 }));
    [1, 2].forEach((used) => add({ sentMs: MINUTE_MS + 4000 + used * 10 }, used));
    // The crash may have forgotten the last second, in which nothing was allowed, but the counts before are
    // gone.
    expect(broken()).toEqual(['a', 'f']);
    evidence.requests[LIMIT - 1]!.receivedMs = MINUTE_MS + 2500;
    expect(broken()).toEqual(['f']);
  });

  it('more beyond a limit than two crashes may have forgotten that happened at the same time', () => {
    useUp();
    evidence.requests[LIMIT - 1]!.receivedMs = MINUTE_MS + 2500;
    [3000, 3050].forEach((ms) =>
      evidence.faults.push(fault({ startMs: MINUTE_MS + ms, endMs: MINUTE_MS + 3100 })),
    );
    add({ sentMs: MINUTE_MS + 4000 }, LIMIT);
    expect(broken()).toStrictEqual([]);
    add({ sentMs: MINUTE_MS + 4000 }, LIMIT, LIMIT + 1);
    expect(broken()).toEqual(['b', 'f']);
  });

  it.each([
    ['postgres', 'postgres', 2000],
    ['sentinel', 'redis', 4000],
  ])('a local decision once %s is back for longer than a replica may need', (store, target, recoveryMs) => {
    evidence.run.store = store;
    evidence.faults.push(fault({ target, fault: 'store-freeze', endMs: MINUTE_MS + 500 }));
    const request = add({ sentMs: MINUTE_MS + 500 + recoveryMs });
    request.headers.degraded = true;
    expect(broken()).toStrictEqual([]);
    request.sentMs += 1;
    expect(broken()).toEqual(['f']);
  });
});

describe('verify finds by the claim about failed requests', () => {
  it.each([
    ['another status', { status: 400 }],
    ['another code', { code: 'conflict' }],
    ['a time before it was sent', { requested_at: new Date(NOON_MS + 900).toISOString() }],
    ['a time after its response', { requested_at: new Date(NOON_MS + 1100).toISOString() }],
  ])('a request that is kept with %s', (_what, wrong) => {
    keepFailure();
    expect(broken()).toStrictEqual([]);
    Object.assign(evidence.failedRequests[0]!, wrong);
    expect(broken()).toEqual(['g']);
  });

  it('a request that is kept twice, or though it succeeded', () => {
    keepFailure();
    evidence.failedRequests.push({ ...evidence.failedRequests[0]! });
    expect(broken()).toEqual(['g']);
    evidence.failedRequests.pop();
    Object.assign(evidence.requests[0]!, { status: 200, code: null });
    expect(broken()).toEqual(['g']);
  });
});

describe('verify does not call a violation', () => {
  it('a time that is kept by a clock that is wrong, or a request whose response was lost', () => {
    keepFailure();
    evidence.failedRequests[0]!['requested_at'] = new Date(NOON_MS + 3_600_000).toISOString();
    evidence.faults.push(fault({ fault: 'clock-skew', target: 'replica-1', endMs: MINUTE_MS + 5000 }));
    expect(broken()).toStrictEqual([]);
    evidence.faults.pop();
    Object.assign(evidence.requests[0]!, LOST);
    expect(broken()).toStrictEqual([]);
  });

  it('what a replica allowed by itself before, while and after its clock was off', () => {
    evidence.faults.push(
      fault({ fault: 'link-cut', target: 'replica-1:postgres', endMs: null }),
      fault({ fault: 'clock-skew', target: 'replica-1', endMs: MINUTE_MS + 3000 }),
    );
    for (let count = 0; count < 3 * LIMIT; count += 1) {
      add().headers.degraded = true;
    }
    expect(broken()).toStrictEqual([]);
    add().headers.degraded = true;
    expect(broken()).toEqual(['f']);
  });

  it('a request that got 429 because its client has too many in flight: it is not counted', () => {
    useUp();
    const crowded = { status: 429, code: 'too_many_concurrent_requests' };
    const ofQuota = add(crowded, LIMIT);
    Object.assign(ofQuota.headers, { degraded: true, retryAfter: 1 });
    const ofAddress = add(crowded);
    Object.assign(ofAddress.headers, report(ofAddress.sentMs, { q: 300, r: 9 }), { retryAfter: 1 });
    delete ofAddress.headers.day;
    denyTimes(denialsBeforeBan(LIMIT) - 1);
    refuse('api_key_banned');
    expect(broken()).toStrictEqual([]);
    expect(claim('e').weakened).toBe(0);
    ofQuota.headers.retryAfter = 2;
    expect(broken()).toEqual(['b']);
  });

  it('a request that got 503, and was counted once a frozen store went on, in the next minute', () => {
    const { headers } = add({ sentMs: MINUTE_MS + 58_000, status: 503, code: 'service_unavailable' });
    Object.assign(headers, { degraded: true, retryAfter: 1 });
    add({ sentMs: MINUTE_MS + 63_000 }, 2);
    expect(broken()).toStrictEqual([]);
  });

  it('a local decision shortly after another fault, which kept the replica from finding its store', () => {
    evidence.faults.push(
      fault({ fault: 'link-cut', target: 'replica-1:postgres', endMs: MINUTE_MS + 500 }),
      fault({ fault: 'replica-freeze', target: 'replica-2', endMs: MINUTE_MS + 9000 }),
      fault({ fault: 'replica-freeze', target: 'replica-1', endMs: MINUTE_MS + 3000 }),
    );
    const request = add({ sentMs: MINUTE_MS + 5000 });
    request.headers.degraded = true;
    expect(broken()).toStrictEqual([]);
    request.sentMs += 1;
    expect(broken()).toEqual(['f']);
  });

  it('a local decision once packets that were lost at the end of a fault may not have been repeated', () => {
    evidence.faults.push(fault({ fault: 'link-loss', target: 'replica-1:postgres', endMs: MINUTE_MS + 500 }));
    const request = add({ sentMs: MINUTE_MS + 6500 });
    request.headers.degraded = true;
    expect(broken()).toStrictEqual([]);
    request.sentMs += 1;
    expect(broken()).toEqual(['f']);
  });

  it('a creation by a key that may only read, within a second of that, or once it may write again', () => {
    restrict(['pets:read']);
    create('Rex', { sentMs: MINUTE_MS + 1010 });
    evidence.changes.push(
      change({ change: 'restrict', scopes: null, sentMs: MINUTE_MS + 3000, receivedMs: null }),
    );
    create('Tom', { sentMs: MINUTE_MS + 2999, receivedMs: MINUTE_MS + 3001 });
    expect(broken()).toStrictEqual([]);
  });

  it('a request without a response, which weakens the claims', () => {
    useUp();
    denyTimes(denialsBeforeBan(LIMIT) - 2);
    add({ receivedMs: null, status: null, headers: {} });
    refuse('api_key_banned');
    expect(broken()).toStrictEqual([]);
    expect([claim('a').weakened, claim('e').weakened]).toEqual([2, 1]);
  });

  it('a limit that changed meanwhile', () => {
    add({}, 1);
    evidence.changes.push(change({ perMinute: 2, sentMs: MINUTE_MS + 1012, receivedMs: null, status: null }));
    const { sentMs, headers } = add();
    Object.assign(headers, report(sentMs, { q: 2, r: 0 }, { q: DAY_LIMIT, r: DAY_LIMIT - 2 }));
    expect(broken()).toStrictEqual([]);
  });

  it('a limit of a change whose response was lost, after another change that names the limit before', () => {
    const lost = change({ perMinute: 5, receivedMs: null, status: null });
    evidence.changes.push(lost, change({ change: 'liftBan', sentMs: MINUTE_MS + 100 }));
    const { sentMs, headers } = add({ sentMs: MINUTE_MS + 5000 });
    Object.assign(headers, report(sentMs, { q: 5, r: 4 }, { q: DAY_LIMIT, r: DAY_LIMIT - 1 }));
    expect(broken()).toStrictEqual([]);
    lost.receivedMs = MINUTE_MS + 50;
    lost.status = 404;
    expect(broken()).toEqual(['a']);
  });

  it('a ban that is first seen in the minute after the denial that started it', () => {
    [1, 2, 3].forEach((used) => add({ sentMs: MINUTE_MS + 57_000 + used * 100 }, used));
    [58_000, 58_100].forEach((ms) =>
      add({ sentMs: MINUTE_MS + ms, status: 429, code: 'rate_limit_exceeded' }, LIMIT),
    );
    add({ sentMs: MINUTE_MS + 59_900, receivedMs: null, status: null, headers: {} });
    const banned = add({ sentMs: MINUTE_MS + 60_200, status: 429, code: 'api_key_banned' }, 0, LIMIT);
    setBanEnd(banned, 65);
    expect(broken()).toStrictEqual([]);
    expect(claim('e').weakened).toBeGreaterThan(0);
  });

  it('a denial with nothing remaining of a limit that was lowered below what is used', () => {
    useUp();
    evidence.changes.push(change({ perMinute: 2, sentMs: MINUTE_MS + 1032, receivedMs: MINUTE_MS + 1034 }));
    const { sentMs, headers } = refuse();
    Object.assign(headers, report(sentMs, { q: 2, r: 0 }, { q: DAY_LIMIT, r: DAY_LIMIT - 3 }));
    expect(broken()).toStrictEqual([]);
  });

  it.each([
    ['sentinel', 'redis'],
    ['patroni', 'postgres'],
  ])('what a failover of %s has lost, up to its end', (store, target) => {
    evidence.run.store = store;
    evidence.faults.push(fault({ target }));
    add({ sentMs: MINUTE_MS + 1000 }, 1);
    add({ sentMs: MINUTE_MS + 3000 }, 1);
    // Another server took over after a kill, or it is the same one that forgot.
    expect(broken()).toEqual(['b']);
    evidence.faults.push(
      fault({
        fault: 'store-failover',
        target,
        startMs: MINUTE_MS + 1500,
        // Another server had taken over; those that took over before it, for a moment, followed at the end.
        causedMs: MINUTE_MS + 1600,
        endMs: MINUTE_MS + 2500,
      }),
    );
    expect(broken()).toStrictEqual([]);
    add({ sentMs: MINUTE_MS + 4000 }, 1);
    expect(broken()).toEqual(['b']);
  });

  it('a ban that a failover has lost', () => {
    useUp();
    denyTimes(denialsBeforeBan(LIMIT) - 1);
    const ban = refuse('api_key_banned');
    setBanEnd(ban, 120);
    evidence.run.store = 'sentinel';
    add({ sentMs: MINUTE_MS + 61_000 }, 1, LIMIT + 1);
    evidence.faults.push(
      fault({
        fault: 'store-failover',
        target: 'redis',
        startMs: Number(ban.receivedMs) - 500,
        endMs: MINUTE_MS + 9000,
      }),
    );
    expect(broken()).toStrictEqual([]);
  });

  it('a revoked key that is served within the second', () => {
    evidence.changes.push(change({ change: 'revoke' }));
    add({ sentMs: MINUTE_MS + 900 });
    expect([broken(), claim('d').weakened]).toEqual([[], 1]);
  });

  it('a suspended key that is rejected, or served within the second, and a resumed one', () => {
    suspend('suspend', MINUTE_MS);
    add({ sentMs: MINUTE_MS + 1000 });
    reject(MINUTE_MS + 1500);
    suspend('resume', MINUTE_MS + 2000);
    reject(MINUTE_MS + 3000);
    add({ sentMs: MINUTE_MS + 3100 }, 2);
    expect([broken(), claim('d').weakened]).toEqual([[], 2]);
  });

  it('a key that is served after a suspension that was rejected, or whose response was lost', () => {
    suspend('suspend', MINUTE_MS, { status: 404 });
    add({ sentMs: MINUTE_MS + 1500 });
    expect([broken(), claim('d').weakened]).toEqual([[], 0]);
    suspend('suspend', MINUTE_MS, { receivedMs: null, status: null });
    expect([broken(), claim('d').weakened]).toEqual([[], 1]);
  });

  it('a key that is served after a rotation whose response was lost, which weakens the claim', () => {
    evidence.changes.push(change({ change: 'rotate', receivedMs: null, status: null }));
    add({ sentMs: MINUTE_MS + 1500 });
    expect([broken(), claim('d').weakened]).toEqual([[], 1]);
    evidence.changes.at(-1)!.sentMs = MINUTE_MS + 2000;
    expect(claim('d').weakened).toBe(0);
  });

  it('a remaining count that a crash has forgotten', () => {
    add({}, 1);
    evidence.faults.push(fault({ startMs: MINUTE_MS + 1100, endMs: MINUTE_MS + 1150 }));
    add({ sentMs: MINUTE_MS + 1200 }, 1, 2);
    expect(broken()).toStrictEqual([]);
  });

  it('a remaining count that was reported while a server was being killed, and forgotten', () => {
    evidence.faults.push(
      fault({ startMs: MINUTE_MS + 1000, causedMs: MINUTE_MS + 1040, endMs: MINUTE_MS + 1100 }),
    );
    add({ sentMs: MINUTE_MS + 1010 }, 1);
    add({ sentMs: MINUTE_MS + 1200 }, 1, 2);
    expect(broken()).toStrictEqual([]);
    evidence.faults[0]!.causedMs = MINUTE_MS + 1000;
    expect(broken()).toEqual(['b']);
  });
});

describe('a claim', () => {
  it('has held once it was checked without a violation; a run may have had no exception', () => {
    useUp();
    expect(notHeld(verify(evidence)).map(({ letter }) => letter)).toEqual(['c', 'e', 'g']);
    add({}, LIMIT);
    expect(notHeld(verify(evidence)).map(({ letter }) => letter)).toEqual(['a', 'b', 'c', 'e', 'g']);
  });
});

describe('readEvidence', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'animal-store-chaos-'));
    ['ledger', 'tables'].forEach((name) => mkdirSync(path.join(folder, name)));
    ['pets', 'orders', 'keys', 'stored_responses', 'failed_requests'].forEach((name) =>
      writeFileSync(path.join(folder, 'tables', `${name}.jsonl`), ''),
    );
    writeFileSync(path.join(folder, 'run.json'), JSON.stringify(evidence.run));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const write = (...lines: string[]) =>
    writeFileSync(path.join(folder, 'ledger', 'client-1.jsonl'), lines.join('\n'));

  it.each(['{"kind":"request","id":"r', '{"kind":"request","headers":{}'])(
    'returns what the files have, without the half line of a process that was killed: %s',
    (half) => {
      const request = add();
      write(JSON.stringify(request), half);
      expect(readEvidence(folder).requests).toEqual([request]);
    },
  );

  it('names a folder that no run has left', () => {
    expect(() => readEvidence(path.join(folder, 'elsewhere'))).toThrow(
      /elsewhere.* is not the folder of a run/,
    );
  });

  it.each([
    ['{', 'is not a JSON object'],
    ['{"kind":"reply"}', 'has no known kind'],
    ['{"kind":"fault","startMs":"now"}', 'has no valid startMs'],
  ])('names the file and the line that is wrong: %s', (line, problem) => {
    write(JSON.stringify(add()), line, JSON.stringify(add()));
    expect(() => readEvidence(folder)).toThrow(`client-1.jsonl:2 ${problem}`);
  });
});
