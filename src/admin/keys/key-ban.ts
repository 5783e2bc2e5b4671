import type { CounterStore } from '../../rate-limit/stores/counter-store.js';
import { quotaBucketKey } from '../../rate-limit/rules/bucket-key.js';

/**
 * Returns when the ban of a quota ends, or null if there is none. While the counter store is away, it is the ban that this replica last
 * knew.
 */
export async function findBanEnd(counters: CounterStore, quotaId: string): Promise<Date | null> {
  // A ban does not depend on the limits.
  const { ban } = await counters.peek({ bucketKey: quotaBucketKey(quotaId), perMinute: 1, perDay: 1 });
  return ban === null ? null : new Date(ban.untilMs);
}
