const QUOTA = 'quota:';

/** Whose windows a counter store keeps: here a quota's. */
export function quotaBucketKey(quotaId: string): string {
  return QUOTA + quotaId;
}

/** Whose windows a counter store keeps: here those in which a quota may request where it stands. */
export function statusBucketKey(quotaId: string): string {
  return `inquiry:${quotaId}`;
}

/** Whose windows a counter store keeps: here those of a stranger's network. */
export function addressBucketKey(network: string): string {
  return `address:${network}`;
}

/** The id of the quota that a subject is, or null when it is none. */
export function quotaIdOf(subject: string): string | null {
  return subject.startsWith(QUOTA) ? subject.slice(QUOTA.length) : null;
}
