import { setTimeout as pause } from 'node:timers/promises';
import { HealthWatch } from './health-watch.js';
import type { Answer } from './http.js';
import { isServed, type Kind, Load, type Seen } from './load.js';

/** How long all is well before a fault, unless it has happened already. */
const CALM_MS = 1000;
/** How long is looked on when it is over: longer than the service may take to recover. */
const AFTER_MS = 3000;

export interface Fault {
  /** As the table names it. */
  name: string;
  /** Has it happen; when it returns, it has. Left out, it has happened before the load begins. */
  happen?(): Promise<unknown>;
  lastsMs: number;
  /** Ends it; when it returns, what failed is there again. */
  end(): Promise<unknown>;
}

/** When a fault began, had happened, began to end, and was over, by `performance.now()`. */
interface Times {
  beganMs: number;
  happenedMs: number;
  endingMs: number;
  returnedMs: number;
}

/** What clients and a load balancer saw of a service that suffered a fault. */
export class Course {
  /** Of the animals whose creation was acknowledged, those that are not there; null while nobody has looked. */
  lost: number | null = null;
  /** Requests that were answered, and that the counters do not know of; null while nobody has looked. */
  uncounted: number | null = null;

  constructor(
    readonly name: string,
    private readonly times: Times,
    readonly load: Load,
    readonly health: HealthWatch,
  ) {}

  /** Requests that failed though nothing had happened yet. */
  get failedBefore(): number {
    return this.load.seen.filter((seen) => seen.endedMs < this.times.beganMs && !isServed(seen)).length;
  }

  /** Requests that were under way when it began, or sent later, and were answered as they should be. */
  get served(): number {
    return this.concerned.filter(isServed).length;
  }

  /** Of these, those that the replica decided by itself. */
  get countedAlone(): number {
    return this.concerned.filter((seen) => isServed(seen) && isDegraded(seen)).length;
  }

  /** The answers that tell of a failure. */
  get refusals(): Answer[] {
    return this.concerned.flatMap(({ answer }) => (answer !== null && answer.status >= 300 ? [answer] : []));
  }

  /** Requests that failed without an answer. */
  get unanswered(): number {
    return this.concerned.filter(({ answer }) => answer === null).length;
  }

  /** The longest time that a client waited for an answer. */
  get longestMs(): number {
    return Math.max(...this.concerned.map(({ sentMs, endedMs }) => endedMs - sentMs));
  }

  /** How long after the fault the last failure of the service arrived. */
  get servedAgainMs(): number {
    return this.sinceReturn(this.load.seen.filter((seen) => !isServed(seen)));
  }

  /** How long after the fault the last answer arrived that the replica had decided by itself. */
  get countedAgainMs(): number {
    return this.sinceReturn(this.load.seen.filter(isDegraded));
  }

  /** How long it took until `/readyz` told that it had happened; null where it never did. */
  get unreadyMs(): number | null {
    const told = this.health.readyz.find(({ status }) => status !== 200);
    return told === undefined ? null : Math.max(0, told.answeredMs - this.times.happenedMs);
  }

  /** Whether `/readyz` told during the fault that all is well again. */
  get readyMeanwhile(): boolean {
    const during = this.health.readyz.filter(({ answeredMs }) => answeredMs < this.times.endingMs);
    const told = during.findIndex(({ status }) => status !== 200);
    return told !== -1 && during.slice(told).some(({ status }) => status === 200);
  }

  /** How long after the fault `/readyz` told for the last time that the service is not ready. */
  get readyAgainMs(): number {
    const told = this.health.readyz.filter(({ status }) => status !== 200);
    return this.sinceReturn(told.map(({ answeredMs }) => ({ endedMs: answeredMs })));
  }

  /** The requests of one kind that were not served. */
  failuresOf(kind: Kind): Seen[] {
    return this.concerned.filter((seen) => seen.kind === kind && !isServed(seen));
  }

  private get concerned(): Seen[] {
    return this.load.seen.filter(({ endedMs }) => endedMs >= this.times.beganMs);
  }

  private sinceReturn(events: { endedMs: number }[]): number {
    return Math.max(0, ...events.map(({ endedMs }) => endedMs - this.times.returnedMs));
  }
}

const isDegraded = ({ answer }: Seen) => answer?.headers.get('x-ratelimit-degraded') === 'true';

/** Has a fault happen to a service that is under constant load, and be over again. */
export async function suffer(url: string, key: string, fault: Fault): Promise<Course> {
  const load = new Load(url, key);
  const health = new HealthWatch(url);
  const times = { beganMs: 0, happenedMs: 0, endingMs: 0, returnedMs: 0 };
  try {
    await pause(fault.happen === undefined ? 0 : CALM_MS);
    times.beganMs = performance.now();
    try {
      await fault.happen?.();
      times.happenedMs = performance.now();
      await pause(fault.lastsMs);
    } finally {
      times.endingMs = performance.now();
      await fault.end();
    }
    times.returnedMs = performance.now();
    await pause(AFTER_MS);
  } finally {
    await Promise.all([load.stop(), health.stop()]);
  }
  return new Course(fault.name, times, load, health);
}
