import { setTimeout as pause } from 'node:timers/promises';
import { HealthWatch } from './health-watch.js';
import { isServed, type Kind, Load, type Seen } from '../support/http/load.js';

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
export type Course = ReturnType<typeof describeCourse>;

function describeCourse(times: Times, load: Load, { livez, readyz }: HealthWatch) {
  const { beganMs, happenedMs, endingMs, returnedMs } = times;
  /** The requests that were in flight when the fault began, or sent later. */
  const concerned = load.seen.filter(({ endedMs }) => endedMs >= beganMs);
  const served = concerned.filter(isServed);
  const written = served.filter(({ kind }) => kind.startsWith('add')).map(({ endedMs }) => endedMs);
  const unready = readyz.filter(({ status }) => status !== 200);
  const duringFault = readyz.filter(({ endedMs }) => endedMs < endingMs);
  const sinceReturn = (events: { endedMs: number }[]) =>
    Math.max(0, ...events.map(({ endedMs }) => endedMs - returnedMs));
  return {
    acknowledged: load.acknowledged,
    livez,
    readyz,
    failedBefore: load.seen.filter((seen) => seen.endedMs < beganMs && !isServed(seen)).length,
    served: served.length,
    countedLocally: served.filter(isDegraded).length,
    /** The responses that report a failure. */
    failedResponses: concerned.flatMap(({ response }) =>
      response !== null && response.status >= 300 ? [response] : [],
    ),
    /** The longest time without the acknowledgement of a creation, from the fault on. */
    withoutWritesMs: longestGap([beganMs, ...written]),
    /** How long after the fault began the last locally counted response arrived. */
    countedLocallyMs: Math.max(0, ...served.filter(isDegraded).map(({ endedMs }) => endedMs - beganMs)),
    withoutResponse: concerned.filter(({ response }) => response === null).length,
    /** The longest time that a client waited for a response. */
    longestMs: Math.max(...concerned.map(({ sentMs, endedMs }) => endedMs - sentMs)),
    /**
     * How long after the fault the last failure of the service arrived, and the last locally counted
     * response.
     */
    servedAgainMs: sinceReturn(load.seen.filter((seen) => !isServed(seen))),
    countedAgainMs: sinceReturn(load.seen.filter(isDegraded)),
    /** How long `/readyz` took to report the fault; null if it never did. */
    unreadyMs: unready[0] === undefined ? null : Math.max(0, unready[0].endedMs - happenedMs),
    /** Whether `/readyz` reported recovery during the fault. */
    readyMeanwhile: duringFault.some(
      ({ status }, index) => status !== 200 && duringFault[index + 1]?.status === 200,
    ),
    /** How long after the fault `/readyz` last reported that the service is not ready. */
    readyAgainMs: sinceReturn(unready),
    /** Returns the requests of one kind that were not served. */
    findFailures: (kind: Kind) => concerned.filter((seen) => seen.kind === kind && !isServed(seen)),
  };
}

/** Returns what docs/reliability.md reports: counts, and times in milliseconds. */
function figures(course: Course): string {
  const { acknowledged, failedResponses, livez: _livez, readyz: _readyz, ...numbers } = course;
  const sizes = { failedResponses: failedResponses.length, acknowledged: acknowledged.size };
  return JSON.stringify({ ...numbers, ...sizes }, (_name, value) =>
    typeof value === 'number' ? Math.round(value) : value,
  );
}

/** Returns the longest time between two of these, in milliseconds. */
function longestGap(timesMs: number[]): number {
  const sorted = timesMs.toSorted((one, other) => one - other);
  return Math.max(0, ...sorted.slice(1).map((timeMs, index) => timeMs - (sorted[index] ?? timeMs)));
}

const isDegraded = ({ response }: Seen) => response?.headers.get('x-ratelimit-degraded') === 'true';

/**
 * Causes a fault of a service under constant load, ends it, prints the figures, and returns what was seen.
 */
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
  const course = describeCourse(times, load, health);
  process.stdout.write(`${expect.getState().currentTestName ?? ''} ${figures(course)}\n`);
  return course;
}
