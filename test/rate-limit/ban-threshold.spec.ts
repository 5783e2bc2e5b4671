import type { RateLimitRequest } from '../../src/rate-limit/rules/rate-limit-decision.js';
import { sharedStores } from '../support/counter-stores.js';
import { consume, newBucket, openForEach, store, summarize } from './counting.js';

/** Another rule than the service's: whatever it is, the stores get its result with each bucket. */
const mockThreshold = jest.fn<number | null, [RateLimitRequest]>();
jest.mock('../../src/rate-limit/rules/ban.js', () => ({
  ...jest.requireActual('../../src/rate-limit/rules/ban.js'),
  banThreshold: (request: RateLimitRequest) => mockThreshold(request),
}));

describe.each(sharedStores)('a ban threshold that %s gets with a bucket', (_name, start) => {
  openForEach(start);

  it.each([
    ['fewer denials than the limit', 2, '5 allowed, denied with 1 left, starts a ban, 13 banned'],
    ['more denials than the limit', 7, '5 allowed, denied with 6 5 4 3 2 1 left, starts a ban, 8 banned'],
    ['no ban', null, '5 allowed, 15 denied'],
  ])('has the effect of %s, in a new bucket and in a known one', async (_what, threshold, expected) => {
    mockThreshold.mockReturnValue(threshold);
    const [fresh, known] = [newBucket(5), newBucket(5)];
    expect(summarize(await consume(fresh, 20))).toBe(expected);
    await store.consume(known);
    expect(summarize(await consume(known, 19))).toBe(expected.replace('5', '4'));
  });

  it('may be twice the largest limit', async () => {
    const [largest, twice] = [2_147_483_647, 4_294_967_294];
    mockThreshold.mockReturnValue(twice);
    const request = newBucket(largest, 1);
    for (const [count, left] of [
      [3, `1 allowed, denied with ${twice - 1} ${twice - 2} left`],
      [2, `denied with ${twice - 3} ${twice - 4} left`],
    ] as const) {
      expect(summarize(await consume(request, count))).toBe(left);
    }
    expect(await store.peek(request)).toMatchObject({ allowed: false, denials: 4 });
  });
});
