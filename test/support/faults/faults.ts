import { setTimeout as pause } from 'node:timers/promises';
import { HealthWatch } from '../service/health-watch.js';
import type { HttpResponse } from '../http/http.js';
import { isServed, type Kind, Load, type Seen } from '../load/load.js';

/** How long the load runs before the fault. */
const CALM_MS = 500;
/** How long the load runs after the fault: longer than the service may take to recover. */
const AFTER_MS = 2500;

export interface Fault {
  /** Causes the fault, and returns once it has happened. Default: it has happened before the load begins. */
  happen?(): Promise<unknown>;
  lastsMs: number;
  /** Ends the fault, and returns once what failed is back. */
  end(): Promise<unknown>;
}

/** When a fault began, had happened, began to end, and was over, by `performance.now()`. */
interface Times {
  beganMs: number;
  happenedMs: number;
  endingMs: number;
  returnedMs: number;
}

/** What clients and a load balancer saw of a service during a fault. */
export class Course {
  constructor(
    private readonly times: Times,
    readonly load: Load,
    readonly health: HealthWatch,
  ) {}

  /** The number of requests that failed before the fault. */
  get failedBefore(): number {
    return this.load.seen.filter((seen) => seen.endedMs < this.times.beganMs && !isServed(seen)).length;
  }

  /** The number of requests that were in flight when the fault began, or sent later, and succeeded. */
  get served(): number {
    return this.concerned.filter(isServed).length;
  }

  /** The number of these that the replica counted locally. */
  get countedLocally(): number {
    return this.concerned.filter((seen) => isServed(seen) && isDegraded(seen)).length;
  }

  /** The responses that report a failure. */
  get failedResponses(): HttpResponse[] {
    return this.concerned.flatMap(({ response }) =>
      response !== null && response.status >= 300 ? [response] : [],
    );
  }

  /** The number of requests without a response. */
  get withoutResponse(): number {
    return this.concerned.filter(({ response }) => response === null).length;
  }

  /** The longest time that a client waited for a response. */
  get longestMs(): number {
    return Math.max(...this.concerned.map(({ sentMs, endedMs }) => endedMs - sentMs));
  }

  /** How long after the fault the last failure of the service arrived. */
  get servedAgainMs(): number {
    return this.sinceReturn(this.load.seen.filter((seen) => !isServed(seen)));
  }

  /** How long after the fault the last locally counted response arrived. */
  get countedAgainMs(): number {
    return this.sinceReturn(this.load.seen.filter(isDegraded));
  }

  /** How long `/readyz` took to report the fault; null if it never did. */
  get unreadyMs(): number | null {
    const first = this.health.readyz.find(({ status }) => status !== 200);
    return first === undefined ? null : Math.max(0, first.endedMs - this.times.happenedMs);
  }

  /** Whether `/readyz` reported recovery during the fault. */
  get readyMeanwhile(): boolean {
    const during = this.health.readyz.filter(({ endedMs }) => endedMs < this.times.endingMs);
    const first = during.findIndex(({ status }) => status !== 200);
    return first !== -1 && during.slice(first).some(({ status }) => status === 200);
  }

  /** How long after the fault `/readyz` last reported that the service is not ready. */
  get readyAgainMs(): number {
    return this.sinceReturn(this.health.readyz.filter(({ status }) => status !== 200));
  }

  /** The requests of one kind that were not served. */
  failuresOf(kind: Kind): Seen[] {
    return this.concerned.filter((seen) => seen.kind === kind && !isServed(seen));
  }

  /** What docs/reliability.md reports. */
  get figures(): string {
    const { served, countedLocally, failedResponses, withoutResponse, longestMs } = this;
    const { unreadyMs, readyAgainMs, servedAgainMs, countedAgainMs, load } = this;
    const counts = { served, countedLocally, failed: failedResponses.length, withoutResponse };
    const times = { longestMs, unreadyMs, readyAgainMs, servedAgainMs, countedAgainMs };
    return JSON.stringify({ ...counts, ...times, acknowledged: load.acknowledged.size }, (_name, value) =>
      typeof value === 'number' ? Math.round(value) : value,
    );
  }

  private get concerned(): Seen[] {
    return this.load.seen.filter(({ endedMs }) => endedMs >= this.times.beganMs);
  }

  private sinceReturn(events: { endedMs: number }[]): number {
    return Math.max(0, ...events.map(({ endedMs }) => endedMs - this.times.returnedMs));
  }
}

const isDegraded = ({ response }: Seen) => response?.headers.get('x-ratelimit-degraded') === 'true';

/** Causes a fault of a service under constant load, ends it, prints the figures, and returns what was seen. */
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
  const course = new Course(times, load, health);
  process.stdout.write(`${expect.getState().currentTestName ?? ''} ${course.figures}\n`);
  return course;
}
