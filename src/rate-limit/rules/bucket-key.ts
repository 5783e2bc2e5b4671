const QUOTA = 'quota:';

export function quotaBucketKey(quotaId: string): string {
  return QUOTA + quotaId;
}

/** Returns the bucket key of a quota's requests for its rate-limit status. */
export function statusBucketKey(quotaId: string): string {
  return `status:${quotaId}`;
}

/** Returns the bucket key of the requests of one operation that end keys, with one key from one network. */
export function revocationBucketKey(operation: string, keyId: string, network: string): string {
  return `revocation:${operation}:${keyId}:${network}`;
}

/** Returns the bucket key of the anonymous clients of a network. */
export function addressBucketKey(network: string): string {
  return `address:${network}`;
}

/** Returns the id of the quota that a bucket belongs to, or null for other buckets. */
export function parseQuotaId(bucketKey: string): string | null {
  return bucketKey.startsWith(QUOTA) ? bucketKey.slice(QUOTA.length) : null;
}
