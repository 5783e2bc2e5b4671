const QUOTA = 'quota:';

export function quotaBucketKey(quotaId: string): string {
  return QUOTA + quotaId;
}

export function statusBucketKey(quotaId: string): string {
  return `status:${quotaId}`;
}

export function revocationBucketKey(operation: string, keyId: string, network: string): string {
  return `revocation:${operation}:${keyId}:${network}`;
}

export function addressBucketKey(network: string): string {
  return `address:${network}`;
}

/** Returns the id of the quota that a bucket belongs to, or null for other buckets. */
export function parseQuotaId(bucketKey: string): string | null {
  return bucketKey.startsWith(QUOTA) ? bucketKey.slice(QUOTA.length) : null;
}
