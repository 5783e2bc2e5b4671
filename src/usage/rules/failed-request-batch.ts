import { MINUTE_MS } from '../../process/time-units.js';

/** The maximum of requests that are stored of a quota and minute, and of those without a valid key. */
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
  /** Of the key, even if that is denied and its requests count with those without a valid key. */
  quotaId: string | null;
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

/** Counts the requests of the newest minute that were added to batches, by quota. */
export class AddedRequests {
  private minute = 0;
  private readonly counts = new Map<string, number>();

  get(name: string): number {
    return this.counts.get(name) ?? 0;
  }

  add(name: string, minute: number): void {
    if (minute > this.minute) {
      this.minute = minute;
      this.counts.clear();
    }
    // Beyond the maximum, and of an earlier minute, each batch counts its own.
    if (minute === this.minute && (this.counts.size < GROUPS_MAX || this.counts.has(name))) {
      this.counts.set(name, this.get(name) + 1);
    }
  }
}

/** Requests that failed, by quota and minute. */
export class FailedRequestBatch {
  private readonly byMinute = new Map<string, Group>();
  private size = 0;

  /** @param added of all batches of a recorder, so that a flood is described once a minute. */
  constructor(private readonly added: AddedRequests) {}

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
    const added = Math.max(group.requests.length, this.added.get(name));
    if (added < STORED_PER_MINUTE_MAX && this.size < REQUESTS_MAX) {
      group.requests.push(describe());
      this.added.add(name, minute);
      this.size += 1;
    }
    return true;
  }
}
