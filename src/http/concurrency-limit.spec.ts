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

/** Requests this many slots for a quota; returns the requests that got one. */
function take(id: string, count: number): FastifyRequest[] {
  const request = {
    requiredRole: 'client',
    routeOptions: { config: { operation: 'listPets' } },
    lastKnownPrincipal: { quota: { id } },
  };
  const requests = Array.from({ length: count }, () => ({ ...request }) as unknown as FastifyRequest);
  return requests.filter((each) => limit.takeSlot(each) === undefined);
}

const taken = () => limit.all()[0]?.slots.length;

describe('ConcurrencyLimit', () => {
  it('gives a quota two thirds of the slots, and leaves the others a third', () => {
    expect(take('a', MAX_SLOTS)).toHaveLength(6);
    expect(take('b', MAX_SLOTS)).toHaveLength(3);
    expect(take('c', 1)).toHaveLength(0);
  });

  it('gives a quota no more than a third while two thirds are taken by several', () => {
    expect([take('a', 5), take('b', 1)].flat()).toHaveLength(6);
    expect(take('a', 1)).toHaveLength(0);
    expect(take('b', 3)).toHaveLength(2);
    expect(take('c', 2)).toHaveLength(1);
  });

  it('gives slots again once they are released', () => {
    take('a', MAX_SLOTS).forEach((request) => limit.freeSlot(request));
    expect(take('a', MAX_SLOTS)).toHaveLength(6);
  });

  it.each([1, 2])('gives all slots if there are only %s', (slots) => {
    limit = createLimit(slots);
    expect(take('a', 3)).toHaveLength(slots);
  });

  it('frees each slot once, in whatever order requests end', () => {
    const [first, second, third] = take('a', 3) as [FastifyRequest, FastifyRequest, FastifyRequest];
    const left = [first, third, third, first, second, second].map((request) => {
      limit.freeSlot(request);
      return taken();
    });
    expect(left).toEqual([2, 1, 1, 1, 0, 0]);
  });
});
