import { randomUUID } from 'node:crypto';
import { MINUTE_MS } from '../../process/time-units.js';

const TOO_MANY_REQUESTS = 429;
const NO_REQUESTS = { succeeded: 0, redirected: 0, clientErrors: 0, serverErrors: 0, denied: 0 };
export type Count = keyof typeof NO_REQUESTS;
/** By the first digit of a status. */
const CLASSES = { 2: 'succeeded', 3: 'redirected', 4: 'clientErrors', 5: 'serverErrors' } as const;

/**
 * The requests of one key for one operation in one UTC minute, by class of status; `denied` are the client
 * errors with status 429.
 */
export interface UsageEntry extends Record<Count, number> {
  keyId: string;
  quotaId: string;
  /** The minute's number since the Unix epoch. */
  minute: number;
  /** The `operationId`; `none` for requests that matched no operation. */
  operation: string;
  deprecated: boolean;
  /** In whole milliseconds since the Unix epoch. */
  lastRequestAtMs: number;
}

/** A request of an authenticated client whose response is complete. */
export interface CompletedRequest extends Pick<UsageEntry, 'keyId' | 'quotaId' | 'operation' | 'deprecated'> {
  status: number;
  atMs: number;
}

/** A batch of requests, counted by key, operation and minute. */
export class UsageCounts {
  /** A batch that is stored twice is kept once. */
  readonly id = randomUUID();
  /** Whether requests can no longer be added, because a batch that is sent again must be the same. */
  isSealed = false;
  requests = 0;
  private readonly byKey = new Map<string, UsageEntry>();

  constructor(private readonly maxEntries: number) {}

  get size(): number {
    return this.byKey.size;
  }

  get entries(): UsageEntry[] {
    return [...this.byKey.values()];
  }

  /**
   * Adds a request. Returns false, and adds nothing, if the batch is sealed, or `maxEntries` is reached and a
   * new entry is needed.
   */
  add({ keyId, quotaId, operation, deprecated, status, atMs }: CompletedRequest): boolean {
    if (this.isSealed) {
      return false;
    }
    const minute = Math.floor(atMs / MINUTE_MS);
    const key = `${minute} ${keyId} ${operation}`;
    let entry = this.byKey.get(key);
    if (entry === undefined) {
      if (this.size >= this.maxEntries) {
        return false;
      }
      entry = { keyId, quotaId, minute, operation, deprecated, ...NO_REQUESTS, lastRequestAtMs: 0 };
      this.byKey.set(key, entry);
    }
    this.requests += 1;
    entry[CLASSES[Math.floor(status / 100) as keyof typeof CLASSES]] += 1;
    entry.denied += Number(status === TOO_MANY_REQUESTS);
    entry.lastRequestAtMs = Math.max(entry.lastRequestAtMs, Math.round(atMs));
    return true;
  }
}
