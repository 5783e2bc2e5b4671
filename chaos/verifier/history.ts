import { groupBy } from './group.js';
import type { Change, Evidence, Fault, Request } from './evidence.js';

export const MINUTE_MS = 60_000;
export const DAY_MS = 86_400_000;
/** The time within which a change takes effect on every replica. */
export const EFFECT_MS = 1000;
/** How long a client waits for a response. */
export const RESPONSE_DEADLINE_MS = 10_000;
/**
 * A frozen store carries out what it had received once it resumes: at the latest after two faults at once.
 */
const LATEST_MS = 15_000;
/** A link that holds data for less than this delays no reply for as long as a store is waited for. */
const SLOW_MS = 300;
/**
 * The time after which a connection without replies is replaced, and a ping has a reply on the new one: three
 * queries in a row have none within 750 ms, and the ping follows half a second later. That takes 2.75 s, and
 * longer in a Cluster, where queries to other masters come between.
 */
const REPLACED_MS = 4000;
/** The difference that the two clocks may gain in a run. */
export const DRIFT_MS = 50;
/**
 * The counts that a crash or a failover of the counter store may lose: those of its last second; Redis may
 * sync a second later.
 */
const LOSS_MS: Record<string, number> = {
  postgres: 1000,
  patroni: 1000,
  redis: 2000,
  cluster: 2000,
  sentinel: 1000,
  valkey: 2000,
  'valkey-cluster': 2000,
};
/** How often a fault ends the process of its replica; the clock of one cannot be moved while it runs. */
const RESTARTS: Record<string, number> = {
  'replica-kill': 1,
  'replica-stop': 1,
  'replica-replace': 1,
  'clock-skew': 2,
};
/** Where a server that is killed loses counts by the failover that follows. */
const FAILING_OVER = new Set(['patroni', 'sentinel']);

/** A response that was counted against its quota. */
export interface Counted extends Request {
  receivedMs: number;
  quota: string;
  headers: Request['headers'] & Required<Pick<Request['headers'], 'minute' | 'day'>>;
}

/** The limits that may have been in force, all of them. */
interface Limits {
  perMinute: number[];
  perDay: number[];
}

/**
 * What is known of a run: when something was, and what was in force. Times are milliseconds of the monotonic
 * clock.
 */
export class History {
  /** When counts of the shared store may have been lost: at some instant of each of these times. */
  readonly crashes: { startMs: number; endMs: number }[];
  private readonly offsetMs: number;
  private readonly serverName: string;
  private readonly lossMs: number;
  /** The time in which a replica notices that its store is back (reliability.md). */
  private readonly recoveryMs: number;
  private readonly byQuota: Map<string, Change[]>;

  constructor(private readonly evidence: Evidence) {
    const { clock, store } = evidence.run;
    this.offsetMs = clock.nowMs - clock.monotonicMs;
    this.serverName = store === 'postgres' || store === 'patroni' ? 'postgres' : 'redis';
    this.lossMs = LOSS_MS[store] ?? 0;
    this.recoveryMs = store === 'sentinel' ? 4000 : 2000;
    const failsOver = FAILING_OVER.has(store);
    const crash = failsOver ? 'store-failover' : 'store-kill';
    this.crashes = evidence.faults
      .filter(({ fault, target }) => fault === crash && target.startsWith(this.serverName))
      // Until all other servers follow, one of them may still count.
      .map(({ startMs, causedMs, endMs }) => ({
        startMs,
        endMs: (failsOver ? endMs : causedMs) ?? Infinity,
      }));
    this.byQuota = groupBy(
      evidence.changes
        .filter((change) => !isRejected(change))
        .toSorted((one, other) => one.sentMs - other.sentMs),
      ({ quota }) => quota,
    );
  }

  /** Returns the wall-clock time of a monotonic time, in milliseconds since the Unix epoch. */
  toWallMs(monotonicMs: number): number {
    return monotonicMs + this.offsetMs;
  }

  /** Returns the monotonic time of an instant. */
  toMonotonicMs(instant: string | number): number {
    return new Date(instant).getTime() - this.offsetMs;
  }

  /** Returns whether a request may have been decided in the second that begins at this wall-clock time. */
  isAtTime({ sentMs, receivedMs }: Counted, wallMs: number): boolean {
    return (
      wallMs + 1000 >= this.toWallMs(sentMs) - DRIFT_MS && wallMs <= this.toWallMs(receivedMs) + DRIFT_MS
    );
  }

  /** Returns the number of the window in which a request was decided; null if it may be either of two. */
  findWindow({ sentMs, receivedMs }: Counted, lengthMs: number, t: number | null): number | null {
    const [fromMs, toMs] = [this.toWallMs(sentMs) - DRIFT_MS, this.toWallMs(receivedMs) + DRIFT_MS];
    const [first, last] = [Math.floor(fromMs / lengthMs), Math.floor(toMs / lengthMs)];
    if (first === last || t === null) {
      return first === last ? first : null;
    }
    // A window ended in this time: the seconds to its end show which window was counted.
    const candidates = Array.from({ length: last - first + 1 }, (_, index) => first + index);
    const fitting = candidates.filter((number) => {
      const endMs = (number + 1) * lengthMs;
      return t * 1000 >= endMs - toMs && (t - 1) * 1000 <= endMs - fromMs;
    });
    return fitting.length === 1 ? (fitting[0] ?? null) : null;
  }

  /** Returns the limits of a quota that may have been in force at some instant of this time. */
  limitsDuring(quota: string, fromMs: number, toMs: number): Limits {
    const changes = (this.byQuota.get(quota) ?? []).filter(
      ({ change }) => change === 'issue' || change === 'plan',
    );
    const possible = changes.filter(({ sentMs }, index) => {
      const next = changes.slice(index + 1).find(isAcknowledged);
      return sentMs <= toMs && (next === undefined || (next.receivedMs ?? 0) + EFFECT_MS >= fromMs);
    });
    return {
      perMinute: possible.map(({ perMinute }) => perMinute),
      perDay: possible.map(({ perDay }) => perDay),
    };
  }

  /** Returns whether a ban of a quota may have been lifted in this time. */
  mayLiftBan(quota: string, fromMs: number, toMs: number): boolean {
    return (this.byQuota.get(quota) ?? []).some(
      ({ change, sentMs, receivedMs }) =>
        change === 'liftBan' &&
        sentMs <= toMs &&
        (receivedMs ?? sentMs + RESPONSE_DEADLINE_MS) + EFFECT_MS >= fromMs,
    );
  }

  /** Returns the number of crashes before a response, or null for one that was in flight during a crash. */
  findEpoch({ sentMs, receivedMs }: Counted): number | null {
    const before = this.crashes.filter(({ endMs }) => endMs <= sentMs).length;
    return before === this.crashes.filter(({ startMs }) => startMs <= receivedMs).length ? before : null;
  }

  /**
   * Returns whether a crash before `atMs` may have forgotten what was counted, or banned, by this request.
   */
  mayForget({ sentMs, receivedMs }: Pick<Counted, 'sentMs' | 'receivedMs'>, atMs: number): boolean {
    return this.crashes.some(
      ({ startMs, endMs }) => startMs <= atMs && receivedMs > startMs - this.lossMs && sentMs < endMs,
    );
  }

  /** Returns the crashes at some instant of this time. */
  crashesDuring(fromMs: number, toMs: number): History['crashes'] {
    return this.crashes.filter(({ startMs, endMs }) => startMs <= toMs && endMs >= fromMs);
  }

  /** Returns how many of these responses a crash within this time may have forgotten. */
  countForgotten(responses: Counted[], fromMs: number, toMs: number): number {
    const crashes = this.crashesDuring(fromMs, toMs);
    const isForgotten = ({ sentMs, receivedMs }: Counted) =>
      crashes.some(({ startMs, endMs }) => receivedMs > startMs - this.lossMs && sentMs <= endMs);
    return responses.filter(isForgotten).length;
  }

  /**
   * Returns whether a fault could keep a replica from its counter store in this time, or did until shortly
   * before.
   */
  mayBeAway(replica: string, fromMs: number, toMs: number): boolean {
    return this.evidence.faults.some((fault) => {
      const [first = '', second] = fault.target.split(':');
      const concerns =
        (second ?? first).startsWith(this.serverName) && (second === undefined || first === replica);
      const isHere = fault.startMs <= toMs && fromMs <= this.findBackMs(fault, replica) + this.recoveryMs;
      const isLong = fault.fault !== 'link-slow' || (fault.byMs ?? SLOW_MS) >= SLOW_MS;
      return concerns && isHere && isLong && /^(store|link)-/.test(fault.fault);
    });
  }

  /**
   * Returns when a replica has its store back after a fault, but for its recovery: not while another fault
   * lasts too, as it may hang until then. Connections that have lost their replies never get one again,
   * however short the fault is; those that lost packets at its end may repeat them late (RFC 6298, section
   * 5.5).
   */
  private findBackMs(fault: Fault, replica: string): number {
    const endMs = fault.endMs ?? Infinity;
    const others = this.evidence.faults.filter(
      (other) =>
        other !== fault &&
        other.startMs <= endMs &&
        (other.endMs ?? Infinity) >= fault.startMs &&
        (other.target.startsWith(replica) || !other.target.startsWith('replica-')),
    );
    const freeMs = Math.max(fault.startMs, ...others.map((other) => other.endMs ?? Infinity));
    const overMs = Math.max(endMs, freeMs);
    switch (fault.fault) {
      case 'link-half-open':
        return Math.max(overMs, freeMs + REPLACED_MS);
      case 'link-loss':
        return overMs + REPLACED_MS;
      default:
        return overMs;
    }
  }

  /** Returns how often a replica was ended in this time, and forgot what it had counted by itself. */
  countRestarts(replica: string, fromMs: number, toMs: number): number {
    return this.evidence.faults
      .filter(
        ({ target, startMs, endMs }) =>
          target === replica && startMs <= toMs && (endMs ?? Infinity) >= fromMs,
      )
      .reduce((sum, { fault }) => sum + (RESTARTS[fault] ?? 0), 0);
  }
}

/** Whether the response to a change says that it did not happen. */
export function isRejected({ receivedMs, status }: Change): boolean {
  return receivedMs !== null && status !== null && status >= 400 && status < 500;
}

export function isAcknowledged({ receivedMs, status }: Pick<Change, 'receivedMs' | 'status'>): boolean {
  return receivedMs !== null && status !== null && status < 300;
}

/**
 * Whether a response came whole, and reports both windows of a quota: other requests count against an
 * address, or not at all.
 */
export function isCounted(request: Request): request is Counted {
  const { receivedMs, quota, headers } = request;
  const hasWindows = headers.minute !== undefined && headers.day !== undefined;
  return receivedMs !== null && quota !== null && hasWindows && !isRevocation(request);
}

/** Whether a holder ends a key: that is served even if a window is full, or during a ban, and not counted. */
export function isRevocation({ method, path }: Request): boolean {
  return method === 'POST' && /^\/v1\/keys\/[^/]+\/revoke$/.test(path);
}

/**
 * Whether the shared store may have counted a request, though no response says so. Release 1.0.0 counts a
 * holder's revocation.
 */
export function isUncertain(request: Request): boolean {
  const { receivedMs, status, headers } = request;
  return (
    isRevocation(request) ||
    receivedMs === null ||
    (!isCrowded(request) && (status === 503 || headers.degraded === true))
  );
}

/** Whether a request was denied without a decision on it, so that it reports the budget last known. */
export function isUndecided(request: Request): boolean {
  return request.status === 503 || isCrowded(request);
}

/** Whether a request was denied because its client had too many in flight: it is certainly not counted. */
function isCrowded({ code }: Request): boolean {
  return code === 'too_many_concurrent_requests';
}

/** Whether a request may have been counted at some instant of this time. */
export function mayBeDuring(request: Request, fromMs: number, toMs: number): boolean {
  const { sentMs, receivedMs } = request;
  const lastMs = isUncertain(request) || receivedMs === null ? sentMs + LATEST_MS : receivedMs;
  return sentMs <= toMs && lastMs >= fromMs;
}

export function isDenied({ status }: Request): boolean {
  return status === 429;
}
