import type { Request } from '../../chaos/verifier/evidence.js';
import { verify } from '../../chaos/verify.js';
import { SERVED } from './served-request.js';

const MINUTE_MS = 600_000;
const NOON_MS = Date.UTC(2026, 10, 24, 12);
const LIMIT = 150_000;

/** Returns a request of the minute after noon, by how many it has had with this one. */
function request(used: number): Request {
  const sentMs = MINUTE_MS + 1000 + used / 10;
  const second = Math.floor((NOON_MS + sentMs - MINUTE_MS) / 1000);
  const minute = { q: LIMIT, r: LIMIT - used, w: 60, t: 60 - (second % 60) } as const;
  const day = { ...minute, w: 86_400, t: 86_400 - (second % 86_400) } as const;
  return {
    ...SERVED,
    id: `r${used}`,
    sentMs,
    receivedMs: sentMs + 0.05,
    headers: { limit: LIMIT, remaining: minute.r, reset: second + day.t, minute, day },
  };
}

it('verify judges a window with more responses than arguments of a function fit onto the stack', () => {
  const issued = {
    kind: 'change',
    sentMs: 0,
    receivedMs: 10,
    change: 'issue',
    key: 'k1',
    quota: 'q1',
    perMinute: LIMIT,
    perDay: LIMIT,
    endsAt: null,
    status: 201,
  } as const;
  const claims = verify({
    run: {
      store: 'postgres',
      banDurations: [5, 10, 20],
      clock: { nowMs: NOON_MS, monotonicMs: MINUTE_MS },
    },
    requests: Array.from({ length: LIMIT }, (_, index) => request(index + 1)),
    changes: [issued],
    faults: [],
    pets: [],
    orders: [],
    keys: [],
    storedResponses: [],
    failedRequests: [],
  });
  expect(claims.filter(({ broken }) => broken > 0)).toStrictEqual([]);
  expect(claims.some(({ checked }) => checked >= LIMIT)).toBe(true);
});
