const MINUTE_MS = 60_000;
const TOO_MANY_REQUESTS = 429;
const NO_REQUESTS = { succeeded: 0, redirected: 0, clientErrors: 0, serverErrors: 0, refusals: 0 };
export type Count = keyof typeof NO_REQUESTS;
export const COUNTS = Object.keys(NO_REQUESTS) as Count[];
/** By the first digit of a status. */
const CLASSES = { 2: 'succeeded', 3: 'redirected', 4: 'clientErrors', 5: 'serverErrors' } as const;

/** The requests of one key for one operation in one UTC minute, by class of status; `refusals` are the client errors with status 429. */
export interface UsageEntry extends Record<Count, number> {
  keyId: string;
  quotaId: string;
  /** The minute's number since the Unix epoch. */
  minute: number;
  /** The `operationId`; `none` for requests that matched no operation. */
  operation: string;
  deprecated: boolean;
  /** In whole milliseconds since the Unix epoch. */
  lastAtMs: number;
}

/** A request of an authenticated client whose response is complete. */
export interface CompletedRequest extends Pick<UsageEntry, 'keyId' | 'quotaId' | 'operation' | 'deprecated'> {
  status: number;
  /** In milliseconds since the Unix epoch. */
  atMs: number;
}

/** Counts requests by key, operation and minute. */
export class UsageCounts {
  readonly entries: UsageEntry[] = [];
  requests = 0;
  private readonly byKey = new Map<string, UsageEntry[]>();

  constructor(private readonly maxEntries: number) {}

  /** Adds a request. Returns false, and adds nothing, if the request needs a new entry and `maxEntries` is reached. */
  add(request: CompletedRequest): boolean {
    const entry = this.entryOf(request);
    if (entry === null) {
      return false;
    }
    const { status, atMs } = request;
    this.requests += 1;
    entry[CLASSES[Math.floor(status / 100) as keyof typeof CLASSES]] += 1;
    entry.refusals += Number(status === TOO_MANY_REQUESTS);
    entry.lastAtMs = Math.max(entry.lastAtMs, Math.round(atMs));
    return true;
  }

  private entryOf({ keyId, quotaId, operation, deprecated, atMs }: CompletedRequest): UsageEntry | null {
    const minute = Math.floor(atMs / MINUTE_MS);
    // A batch has few entries of one key.
    const ofKey = this.byKey.get(keyId) ?? [];
    const known = ofKey.find((each) => each.operation === operation && each.minute === minute);
    if (known !== undefined || this.entries.length >= this.maxEntries) {
      return known ?? null;
    }
    const entry = { keyId, quotaId, minute, operation, deprecated, ...NO_REQUESTS, lastAtMs: 0 };
    this.entries.push(entry);
    ofKey.push(entry);
    this.byKey.set(keyId, ofKey);
    return entry;
  }
}
