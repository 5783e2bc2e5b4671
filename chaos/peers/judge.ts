import { Claim } from '../verifier/claim.js';
import { groupBy } from '../verifier/group.js';

export const WINDOW_MS = 60_000;

/**
 * What a limiter claims by its documentation: no more than `limit` in a window that begins by the clock, or
 * with the first request that finds none open; in any minute, as a sliding window; `burst` above the rate at
 * any time, as a leaky bucket; or an average, which bounds no minute.
 */
export interface Rule {
  kind: 'clock' | 'first' | 'sliding' | 'leaky' | 'average';
  limit: number;
  burst?: number;
}

/** What a client sent and saw. Times are milliseconds since the Unix epoch. */
export interface Observation {
  sentMs: number;
  receivedMs: number | null;
  /** Null if no response came. */
  status: number | null;
  remaining?: number;
  /** When the window ends, as the response reports it, rounded up to a second. */
  endMs?: number;
  /** Whether the response is marked as decided without the store. */
  isMarked?: boolean;
}

/** An allowed request. It was decided after it was sent, and before its response was received. */
type Allowed = Omit<Observation, 'receivedMs'> & { receivedMs: number };

export interface Verdict {
  /** The most that one window let through; for a sliding window or a leaky bucket, any minute. */
  most: number;
  /** How many of them are marked as decided without the store. */
  marked: number;
  /** Whether more were let through than the rule permits. */
  exceeds: boolean;
  /** Whether two allowed requests of a window report the same remaining count; null if none is reported. */
  isRepeated: boolean | null;
  allowed: number;
  denied: number;
  /** Requests that were neither allowed nor denied: errors, lost responses, refused connections. */
  failed: number;
  /** The longest time that a client waited for a response. */
  slowestMs: number;
  /** The first violations, with their times. */
  violations: string[];
}

/** Compares what a limiter let through with its own rule, never more strictly than the times show. */
export function judge(observations: Observation[], rule: Rule): Verdict {
  const limits = new Claim('a', 'No window lets more requests through than the limit.');
  const remaining = new Claim('b', '`Remaining` is never reported twice in a window.');
  const allowed = observations
    .filter((each): each is Allowed => each.status === 200 && each.receivedMs !== null)
    .toSorted((one, other) => one.sentMs - other.sentMs);
  const windows = FIND_WINDOWS[rule.kind](allowed);
  for (const window of windows) {
    limits.check(isWithin(window, rule), () => `${window.length} in the window from ${window[0]?.sentMs}`);
  }
  const reporting = allowed.filter((each) => each.remaining !== undefined && each.isMarked !== true);
  const hasLeft = rule.kind === 'sliding' || rule.kind === 'average';
  for (const pair of hasLeft ? findRepeats(reporting, allowed) : windows.flatMap(pairUp)) {
    remaining.check(false, () => `${pair[0].remaining} at ${pair[0].sentMs} and ${pair[1].sentMs}`);
  }
  const fullest = windows.toSorted((one, other) => other.length - one.length)[0] ?? [];
  const denied = observations.filter(({ status }) => status === 429).length;
  return {
    most: fullest.length,
    marked: fullest.filter(({ isMarked }) => isMarked).length,
    exceeds: limits.broken > 0,
    isRepeated: reporting.length === 0 ? null : remaining.broken > 0,
    allowed: allowed.length,
    denied,
    failed: observations.length - allowed.length - denied,
    slowestMs: Math.max(0, ...observations.map(({ sentMs, receivedMs }) => (receivedMs ?? sentMs) - sentMs)),
    violations: [limits, remaining].flatMap(({ violations }) => violations.slice(0, 2)),
  };
}

/** Across the edge of a minute, a response shows by the end that it reports where it was counted. */
function groupByMinute(allowed: Allowed[]): Allowed[][] {
  const minutes = groupBy(allowed, ({ sentMs, receivedMs, endMs = 0 }) => {
    const minute = Math.floor(sentMs / WINDOW_MS);
    return minute === Math.floor(receivedMs / WINDOW_MS) ? minute : Math.round(endMs / WINDOW_MS) - 1;
  });
  return [...minutes.values()];
}

/**
 * A window ends a minute after the request that opened it. A request that reports an end a whole minute later
 * was counted in the next window already.
 */
function groupFromFirst(allowed: Allowed[]): Allowed[][] {
  const windows: Allowed[][] = [];
  for (const request of allowed) {
    const window = windows.at(-1);
    const opener = window?.[0];
    const isOpen =
      opener !== undefined &&
      request.sentMs < opener.receivedMs + WINDOW_MS &&
      (request.endMs ?? 0) < opener.sentMs + 2 * WINDOW_MS;
    if (isOpen) {
      window?.push(request);
    } else {
      windows.push([request]);
    }
  }
  return windows;
}

/** A window from each request on, with all that was surely decided within a minute. */
const slide = (allowed: Allowed[]): Allowed[][] =>
  allowed.map((first, index) =>
    allowed.slice(index).filter(({ receivedMs }) => receivedMs < first.sentMs + WINDOW_MS),
  );

/** Return the allowed requests of each window. */
const FIND_WINDOWS: Record<Rule['kind'], (allowed: Allowed[]) => Allowed[][]> = {
  clock: groupByMinute,
  first: groupFromFirst,
  sliding: slide,
  leaky: slide,
  average: slide,
};

/** Returns whether the rule permits a window; a leaky bucket must permit it at each instant. */
function isWithin(window: Allowed[], { kind, limit, burst = 0 }: Rule): boolean {
  const [first] = window;
  if (kind === 'average') {
    return true;
  }
  if (kind !== 'leaky' || first === undefined) {
    return window.length <= limit;
  }
  const byReceipt = window.toSorted((one, other) => one.receivedMs - other.receivedMs);
  return byReceipt.every(({ receivedMs }, index) => {
    const leaked = ((receivedMs - first.sentMs) / WINDOW_MS) * limit;
    return index + 1 <= 1 + burst + leaked;
  });
}

/** Returns each two requests of a window that report the same remaining count. */
function pairUp(window: Allowed[]): [Allowed, Allowed][] {
  const seen = new Map<number, Allowed>();
  return window.flatMap((request): [Allowed, Allowed][] => {
    if (request.remaining === undefined || request.isMarked === true) {
      return [];
    }
    const twin = seen.get(request.remaining);
    seen.set(request.remaining, request);
    return twin === undefined ? [] : [[twin, request]];
  });
}

/**
 * Returns each two requests that report the same remaining count, though no request that was counted can have
 * left the sliding window between them.
 */
function findRepeats(reporting: Allowed[], allowed: Allowed[]): [Allowed, Allowed][] {
  return reporting.flatMap((one, index) =>
    reporting
      .slice(index + 1)
      .filter((other) => other.remaining === one.remaining)
      .filter(
        (other) =>
          !allowed.some(
            ({ sentMs, receivedMs }) =>
              receivedMs + WINDOW_MS >= one.sentMs && sentMs + WINDOW_MS <= other.receivedMs,
          ),
      )
      .map((other): [Allowed, Allowed] => [one, other]),
  );
}
