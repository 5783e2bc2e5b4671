import type { FastifyRequest } from 'fastify';
import { ConcurrencyLimit } from './concurrency-limit.js';

const MAX_SLOTS = 9;
const SHARE = 3;

let limit: ConcurrencyLimit;

beforeEach(() => {
  jest.useFakeTimers();
  limit = new ConcurrencyLimit({ MAX_CONCURRENT_REQUESTS: MAX_SLOTS });
});
afterEach(() => jest.useRealTimers());

function newRequest(): FastifyRequest {
  return { routeOptions: { config: { operation: 'listPets' } } } as unknown as FastifyRequest;
}

/** Requests this many slots for a bucket; returns how many it got, with the requests that got them. */
function takeSlots(bucketKey: string, count: number): { allowed: number; requests: FastifyRequest[] } {
  const requests = Array.from({ length: count }, newRequest).filter(
    (request) => limit.take(request, () => bucketKey) === null,
  );
  return { allowed: requests.length, requests };
}

const releaseAll = (requests: FastifyRequest[]) => requests.forEach((request) => limit.release(request));

describe('ConcurrencyLimit', () => {
  it('gives all slots of an operation to one bucket while no other sends requests', () => {
    expect(takeSlots('a', MAX_SLOTS + 1).allowed).toBe(MAX_SLOTS);
  });

  it('gives a bucket a third of the slots while two thirds are taken by several', () => {
    expect(takeSlots('a', 5).allowed).toBe(5);
    expect(takeSlots('b', 1).allowed).toBe(1);
    expect(takeSlots('a', 1).allowed).toBe(0);
    expect(takeSlots('b', SHARE).allowed).toBe(SHARE - 1);
    expect(takeSlots('c', 2).allowed).toBe(1);
  });

  it('gives slots to a second bucket as soon as the first, which had all, returns some', () => {
    const { requests } = takeSlots('a', MAX_SLOTS);
    expect(takeSlots('b', 1).allowed).toBe(0);
    releaseAll(requests.slice(0, 4));
    expect(takeSlots('a', 4).allowed).toBe(1);
    expect(takeSlots('b', 4).allowed).toBe(SHARE);
  });

  it('gives all slots to one bucket again ten seconds after another sent requests', () => {
    releaseAll([...takeSlots('a', MAX_SLOTS).requests, ...takeSlots('b', 1).requests]);
    expect(takeSlots('a', MAX_SLOTS).allowed).toBe((MAX_SLOTS * 2) / 3);
    jest.advanceTimersByTime(10_000);
    expect(takeSlots('a', MAX_SLOTS).allowed).toBe(SHARE);
  });

  it('gives all slots to one bucket long after another had them', () => {
    releaseAll(takeSlots('a', MAX_SLOTS).requests);
    jest.advanceTimersByTime(3_600_000);
    expect(takeSlots('b', MAX_SLOTS).allowed).toBe(MAX_SLOTS);
  });

  it('gives a bucket one slot where a third would be none', () => {
    limit = new ConcurrencyLimit({ MAX_CONCURRENT_REQUESTS: 2 });
    expect(takeSlots('a', 1).allowed).toBe(1);
    expect(takeSlots('b', 2).allowed).toBe(1);
  });

  it('gives the slot of a paused request to others, and one back to it when it resumes, if one is free', () => {
    const { requests } = takeSlots('a', MAX_SLOTS);
    const [paused, other] = requests as [FastifyRequest, FastifyRequest];
    limit.pause(paused);
    expect(takeSlots('a', 2).allowed).toBe(1);
    limit.resume(paused);
    expect(limit.all()[0]?.slots.length).toBe(MAX_SLOTS);
    limit.release(other);
    limit.resume(paused);
    expect(limit.all()[0]?.slots.length).toBe(MAX_SLOTS);
  });

  it('gives no slot back to a request that resumes after its response', () => {
    const [released] = takeSlots('a', 1).requests as [FastifyRequest];
    limit.pause(released);
    limit.release(released);
    limit.resume(released);
    expect(limit.all()[0]?.slots.length).toBe(0);
  });

  it('frees each slot once, in whatever order requests end', () => {
    const { requests } = takeSlots('a', 3);
    const [first, second, third] = requests as [FastifyRequest, FastifyRequest, FastifyRequest];
    const left = [first, third, third, first, second, second].map((request) => {
      limit.pause(request);
      limit.release(request);
      return limit.all()[0]?.slots.length;
    });
    expect(left).toEqual([2, 1, 1, 1, 0, 0]);
  });
});
