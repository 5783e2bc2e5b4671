import { clientBucketKey, clientLimits } from './client.js';

const QUOTA = { id: '7', perMinute: 60, perDay: 1000 };

describe('clientBucketKey', () => {
  it.each([
    ["a client's quota", QUOTA, 'quota:7'],
    ['the network of a client without one', undefined, 'address:2001:db8::/64'],
  ])('returns the key of %s', (_whose, quota, bucketKey) => {
    expect(clientBucketKey(quota, { ip: '2001:db8::1' })).toBe(bucketKey);
  });
});

describe('clientLimits', () => {
  it("returns a quota's limits, else the limit of anonymous clients, without a day window", () => {
    expect(clientLimits(QUOTA, 300)).toMatchObject({ perMinute: 60, perDay: 1000 });
    expect(clientLimits(undefined, 300)).toStrictEqual({ perMinute: 300, perDay: null });
  });
});
