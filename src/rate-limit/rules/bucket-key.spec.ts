import {
  addressBucketKey,
  parseQuotaId,
  quotaBucketKey,
  revocationBucketKey,
  statusBucketKey,
} from './bucket-key.js';

describe('a bucket key', () => {
  it('is the same in every release, as stored counters have it', () => {
    expect(quotaBucketKey('7')).toBe('quota:7');
    expect(statusBucketKey('7')).toBe('status:7');
    expect(revocationBucketKey('revoke', '7', '::1')).toBe('revocation:revoke:7:::1');
    expect(addressBucketKey('203.0.113.9')).toBe('address:203.0.113.9');
  });

  it('contains the id of a quota only if its requests count against the plan', () => {
    expect(parseQuotaId(quotaBucketKey('7'))).toBe('7');
    expect(parseQuotaId(statusBucketKey('7'))).toBeNull();
    expect(parseQuotaId(revocationBucketKey('revoke', '7', '::1'))).toBeNull();
    expect(parseQuotaId(addressBucketKey('203.0.113.9'))).toBeNull();
  });
});
