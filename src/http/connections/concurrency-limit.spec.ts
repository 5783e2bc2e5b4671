import type { FastifyRequest } from 'fastify';
import type { Connections } from './connections.js';
import { ConcurrencyLimit } from './concurrency-limit.js';

const MAX_SLOTS = 9;

let limit: ConcurrencyLimit;

beforeEach(() => {
  limit = createLimit(MAX_SLOTS);
});

function createLimit(slots: number): ConcurrencyLimit {
  const connections = { refusing: new AbortController().signal } as Connections;
  return new ConcurrencyLimit(connections, { MAX_CONCURRENT_REQUESTS_PER_OPERATION: slots });
}

/** Requests this many slots for a quota; returns the requests that got one, and the codes of the others. */
function take(id: string, count: number): (FastifyRequest | string)[] {
  const request = {
    requiredRole: 'client',
    routeOptions: { config: { operation: 'listPets' } },
    lastKnownPrincipal: { quota: { id } },
  };
  const requests = Array.from({ length: count }, () => ({ ...request }) as unknown as FastifyRequest);
  return requests.map((each) => limit.takeSlot(each)?.code ?? each);
}

const codes = (results: (FastifyRequest | string)[]) =>
  results.filter((result) => typeof result === 'string');
const ok = (results: (FastifyRequest | string)[]) => results.filter((result) => typeof result !== 'string');
const times = (count: number, code: string) => Array<string>(count).fill(code);
const TOO_MANY = 'too_many_concurrent_requests';

const taken = () => limit.all()[0]?.slots.length;

describe('ConcurrencyLimit', () => {
  it('gives a quota two thirds of the slots, and leaves the others a third', () => {
    expect(ok(take('a', MAX_SLOTS))).toHaveLength(6);
    expect(ok(take('b', MAX_SLOTS))).toHaveLength(3);
    expect(ok(take('c', 1))).toHaveLength(0);
  });

  it('returns 429 to a quota beyond its share, and 503 to another if no slot is left', () => {
    expect(codes(take('a', 7))).toEqual([TOO_MANY]);
    expect(codes(take('b', 3))).toEqual([]);
    expect(codes(take('b', 1))).toEqual([TOO_MANY]);
    expect(codes(take('a', 1))).toEqual([TOO_MANY]);
    expect(codes(take('c', 2))).toEqual(times(2, 'service_unavailable'));
  });

  it('returns 503 to a quota with less than its share once several others have all slots', () => {
    for (const id of ['a', 'b', 'c', 'd']) {
      expect(codes(take(id, 2))).toEqual([]);
    }
    expect(codes(take('e', 2))).toEqual(['service_unavailable']);
    expect(codes(take('a', 1))).toEqual(['service_unavailable']);
  });

  it('gives a quota no more than a third while two thirds are taken by several', () => {
    expect(ok([take('a', 5), take('b', 1)].flat())).toHaveLength(6);
    expect(ok(take('a', 1))).toHaveLength(0);
    expect(ok(take('b', 3))).toHaveLength(2);
    expect(ok(take('c', 2))).toHaveLength(1);
  });

  it('gives slots again once they are released', () => {
    ok(take('a', MAX_SLOTS)).forEach((request) => limit.onSend(request));
    expect(ok(take('a', MAX_SLOTS))).toHaveLength(6);
  });

  it.each([1, 2])('gives all slots if there are only %s', (slots) => {
    limit = createLimit(slots);
    const results = take('a', 3);
    expect(ok(results)).toHaveLength(slots);
    expect(codes(results)).toEqual(times(3 - slots, TOO_MANY));
  });

  it('frees each slot once, in whatever order requests end', () => {
    const [first, second, third] = ok(take('a', 3)) as [FastifyRequest, FastifyRequest, FastifyRequest];
    const left = [first, third, third, first, second, second].map((request) => {
      limit.onSend(request);
      return taken();
    });
    expect(left).toEqual([2, 1, 1, 1, 0, 0]);
  });
});
