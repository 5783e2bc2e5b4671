import type { Principal } from '../../http/principal.js';

const MINUTE_MS = 60_000;
const TOO_MANY_REQUESTS = 429;

/** A request of an authenticated client whose response is complete. */
export interface CompletedRequest {
  principal: Principal;
  /** The `operationId`; `none` for a request that matched no operation. */
  operation: string;
  deprecated: boolean;
  status: number;
  /** In milliseconds since the Unix epoch. */
  atMs: number;
}

/** The requests of one key for one operation in one UTC minute. */
export interface UsageEntry {
  keyId: string;
  quotaId: string;
  /** The minute's number since the Unix epoch. */
  minute: number;
  operation: string;
  deprecated: boolean;
  succeeded: number;
  redirected: number;
  clientErrors: number;
  serverErrors: number;
  /** The client errors with status 429. */
  refusals: number;
  lastAtMs: number;
}

/** Counts requests by key, operation and minute. */
export class UsageCounts {
  readonly entries: UsageEntry[] = [];
  /** The entries by key, then operation, then minute. */
  private readonly index = new Map<string, Map<string, Map<number, UsageEntry>>>();

  constructor(private readonly maxEntries: number) {}

  /** Adds a request. Returns false, and adds nothing, if the request needs a new entry and `maxEntries` is reached. */
  add(request: CompletedRequest): boolean {
    const entry = this.entryOf(request);
    if (entry === null) {
      return false;
    }
    entry[statusClass(request.status)] += 1;
    if (request.status === TOO_MANY_REQUESTS) {
      entry.refusals += 1;
    }
    entry.lastAtMs = Math.max(entry.lastAtMs, request.atMs);
    return true;
  }

  private entryOf({ principal, operation, deprecated, atMs }: CompletedRequest): UsageEntry | null {
    const minute = Math.floor(atMs / MINUTE_MS);
    const known = this.index.get(principal.keyId)?.get(operation)?.get(minute);
    if (known !== undefined) {
      return known;
    }
    if (this.entries.length >= this.maxEntries) {
      return null;
    }
    const entry: UsageEntry = {
      keyId: principal.keyId,
      quotaId: principal.quota.id,
      minute,
      operation,
      deprecated,
      succeeded: 0,
      redirected: 0,
      clientErrors: 0,
      serverErrors: 0,
      refusals: 0,
      lastAtMs: atMs,
    };
    this.entries.push(entry);
    const operations = this.index.get(principal.keyId) ?? new Map<string, Map<number, UsageEntry>>();
    const minutes = operations.get(operation) ?? new Map<number, UsageEntry>();
    this.index.set(principal.keyId, operations.set(operation, minutes.set(minute, entry)));
    return entry;
  }
}

function statusClass(status: number): 'succeeded' | 'redirected' | 'clientErrors' | 'serverErrors' {
  if (status >= 500) {
    return 'serverErrors';
  }
  if (status >= 400) {
    return 'clientErrors';
  }
  return status >= 300 ? 'redirected' : 'succeeded';
}
