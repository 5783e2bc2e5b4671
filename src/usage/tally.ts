import type { Principal } from '../principal.js';

const MINUTE_MS = 60_000;
const TOO_MANY_REQUESTS = 429;

/** A request of a known client, once it is answered. */
export interface AnsweredRequest {
  client: Principal;
  /** The operation's name in the OpenAPI document; `none` where the request met no operation. */
  operation: string;
  deprecated: boolean;
  status: number;
  /** In milliseconds since the Unix epoch. */
  atMs: number;
}

/** What one key has asked of one operation in one UTC minute. */
export interface TallyEntry {
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
  /** Those of the client errors that were 429. */
  refusals: number;
  lastAtMs: number;
}

/** Requests, added up by key, operation and minute. */
export class Tally {
  readonly entries: TallyEntry[] = [];
  /** The same, to be found by key, then operation, then minute. */
  private readonly index = new Map<string, Map<string, Map<number, TallyEntry>>>();

  constructor(private readonly maxEntries: number) {}

  /** Adds a request, unless it needs an entry of its own and there are as many as there may be. */
  add(request: AnsweredRequest): boolean {
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

  private entryOf({ client, operation, deprecated, atMs }: AnsweredRequest): TallyEntry | null {
    const minute = Math.floor(atMs / MINUTE_MS);
    const known = this.index.get(client.keyId)?.get(operation)?.get(minute);
    if (known !== undefined) {
      return known;
    }
    if (this.entries.length >= this.maxEntries) {
      return null;
    }
    const entry: TallyEntry = {
      keyId: client.keyId,
      quotaId: client.quota.id,
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
    const operations = this.index.get(client.keyId) ?? new Map<string, Map<number, TallyEntry>>();
    const minutes = operations.get(operation) ?? new Map<number, TallyEntry>();
    this.index.set(client.keyId, operations.set(operation, minutes.set(minute, entry)));
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
