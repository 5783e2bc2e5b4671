import { MINUTE_MS } from '../../process/time-units.js';

/** The maximum of requests that are stored of a quota and minute, and of those without a quota. */
export const STORED_PER_MINUTE_MAX = 60;
/** The maximum of requests in a batch, of about 500 bytes each. */
const REQUESTS_MAX = 5_000;
/** The maximum of quotas and minutes in a batch. */
const GROUPS_MAX = 5_000;

/** A request that got 4xx or 5xx. */
interface FailedRequestEntry {
  id: string;
  requestedAtMs: number;
  requestId: string;
  method: string;
  path: string;
  operation: string;
  status: number;
  code: string;
  message: string;
  durationMs: number;
  keyId: string | null;
  clientAddress: string;
}

interface Group {
  quotaId: string | null;
  /** The minute's number since the Unix epoch. */
  minute: number;
  /** All that failed, those that are not stored included. */
  total: number;
  requests: FailedRequestEntry[];
}

/** Requests that failed, by quota and minute. */
export class FailedRequestBatch {
  private readonly byMinute = new Map<string, Group>();
  private size = 0;

  get groups(): Group[] {
    return [...this.byMinute.values()];
  }

  /**
   * Counts a request, and adds it while there is room.
   *
   * @param describe is called only then, so that a flood costs little.
   * @returns whether it was counted.
   */
  add(quotaId: string | null, requestedAtMs: number, describe: () => FailedRequestEntry): boolean {
    const minute = Math.floor(requestedAtMs / MINUTE_MS);
    const name = `${minute} ${quotaId}`;
    const group = this.byMinute.get(name) ?? { quotaId, minute, total: 0, requests: [] };
    if (group.total === 0 && this.byMinute.size >= GROUPS_MAX) {
      return false;
    }
    this.byMinute.set(name, group);
    group.total += 1;
    if (group.requests.length < STORED_PER_MINUTE_MAX && this.size < REQUESTS_MAX) {
      group.requests.push(describe());
      this.size += 1;
    }
    return true;
  }
}
