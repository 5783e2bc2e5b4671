import { MINUTE_MS } from '../../process/time-units.js';
import { AddedRequests, FailedRequestBatch, STORED_PER_MINUTE_MAX } from './failed-request-batch.js';

describe('FailedRequestBatch', () => {
  const describeRequest = jest.fn((): never => ({}) as never);
  let added: AddedRequests;

  beforeEach(() => {
    added = new AddedRequests();
    describeRequest.mockClear();
  });

  /** Adds requests of a minute to a batch of its own. Returns how many it counts and has of each group. */
  function fill(requests: [quotaId: string | null, minute: number, count: number][]): [number, number][] {
    const batch = new FailedRequestBatch(added);
    for (const [quotaId, minute, count] of requests) {
      for (let number = 0; number < count; number += 1) {
        expect(batch.add(quotaId, minute * MINUTE_MS, describeRequest)).toBe(true);
      }
    }
    return batch.groups.map(({ total, requests: { length } }) => [total, length]);
  }

  it('counts all requests, and describes 60 of a quota and minute, whichever batch they are in', () => {
    expect(fill([['a', 1, 40]])).toEqual([[40, 40]]);
    expect(fill([['a', 1, 40]])).toEqual([[40, 20]]);
    expect(fill([['a', 1, 1000]])).toEqual([[1000, 0]]);
    expect(describeRequest).toHaveBeenCalledTimes(STORED_PER_MINUTE_MAX);
  });

  it('describes those of other quotas, of none, and of the next minute', () => {
    fill([['a', 1, 60]]);
    expect(
      fill([
        ['b', 1, 1],
        [null, 1, 61],
        ['a', 2, 1],
      ]),
    ).toEqual([
      [1, 1],
      [61, 60],
      [1, 1],
    ]);
  });

  it('describes up to 60 in a batch of an earlier minute, such as of a request that took long', () => {
    fill([['a', 2, 1]]);
    expect(fill([['a', 1, 61]])).toEqual([[61, 60]]);
  });
});
