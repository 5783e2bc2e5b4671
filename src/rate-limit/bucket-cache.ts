import { LRUCache } from 'lru-cache';

/**
 * What is remembered of subjects, in bounded memory. When it is full, the one not touched for the longest is forgotten. Clients
 * and strangers have a room each: addresses, of which one person may have billions, cannot crowd out clients.
 */
export class BucketCache<Value extends object> {
  private readonly quotas: LRUCache<string, Value>;
  private readonly addresses: LRUCache<string, Value>;

  /** @param max how many clients are remembered, and how many strangers. */
  constructor(max: number) {
    this.quotas = new LRUCache({ max });
    this.addresses = new LRUCache({ max });
  }

  get size(): number {
    return this.quotas.size + this.addresses.size;
  }

  get({ bucketKey, perDay }: { bucketKey: string; perDay: number | null }): Value | undefined {
    return (perDay === null ? this.addresses : this.quotas).get(bucketKey);
  }

  set({ bucketKey, perDay }: { bucketKey: string; perDay: number | null }, value: Value): void {
    (perDay === null ? this.addresses : this.quotas).set(bucketKey, value);
  }

  /** Removes so many and returns them: clients first, and those touched last. */
  takeOut(count: number): Value[] {
    const out: Value[] = [];
    for (const room of [this.quotas, this.addresses]) {
      for (const [bucketKey, value] of room.entries()) {
        if (out.length === count) {
          return out;
        }
        room.delete(bucketKey);
        out.push(value);
      }
    }
    return out;
  }

  /** What is remembered of a client, by its bucket alone. */
  ofQuota(bucketKey: string): Value | undefined {
    return this.quotas.get(bucketKey);
  }

  quotaEntries(): Generator<[string, Value]> {
    return this.quotas.entries();
  }
}
