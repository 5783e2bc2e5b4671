import { greatestOf } from './extremes.js';
import { groupBy } from './group.js';
import type { Claim } from './claim.js';
import type { Evidence, Request } from './evidence.js';
import {
  type Counted,
  DAY_MS,
  type History,
  isCounted,
  isDenied,
  isUncertain,
  isUndecided,
  mayBeDuring,
  MINUTE_MS,
} from './history.js';

const WINDOWS = [
  { name: 'minute', lengthMs: MINUTE_MS, limit: 'perMinute' },
  { name: 'day', lengthMs: DAY_MS, limit: 'perDay' },
] as const;
type Window = (typeof WINDOWS)[number];

/**
 * Checks what responses report of windows: no more than the limit, each remaining count once, and every
 * exception declared.
 */
export function checkWindows(
  { requests }: Evidence,
  history: History,
  claims: { limits: Claim; remaining: Claim; exceptions: Claim },
): void {
  const counted = requests.filter(isCounted).filter((request) => !isUndecided(request));
  const shared = counted.filter(({ headers }) => headers.degraded === undefined);
  shared.forEach((response) => checkReport(response, history, claims));
  const local = counted.filter(({ headers }) => headers.degraded === true);
  local.forEach((response) => checkLocal(response, history, claims.exceptions));
  for (const window of WINDOWS) {
    const uncertain = groupBy(
      requests.filter((request) => mayBeCounted(request, window, history)),
      ({ quota }) => quota as string,
    );
    for (const [name, group] of groupByWindow(shared, window, history, claims.limits)) {
      checkLimit(name, group, window, history, claims);
      const { quota, fromMs, toMs } = group;
      const unknown = (uncertain.get(quota) ?? []).filter((each) => mayBeDuring(each, fromMs, toMs)).length;
      if (unknown > 0) {
        claims.limits.weaken();
      }
      checkTaken(name, group, window, unknown, claims.remaining);
      checkKept(name, group.responses, window, history, claims.exceptions);
      for (const epoch of groupBy(group.responses, (response) => history.findEpoch(response))) {
        if (epoch[0] === null) {
          epoch[1].forEach(() => claims.remaining.weaken());
        } else {
          checkRemaining(name, epoch[1], window, claims.remaining);
        }
      }
    }
    checkLocalLimit(local, window, history, claims.exceptions);
  }
}

/** A response reports limits that are in force, and a denial a window without room. */
function checkReport(
  response: Counted,
  history: History,
  { limits, remaining }: Record<'limits' | 'remaining', Claim>,
): void {
  const { id, quota, sentMs, receivedMs, headers } = response;
  const { perMinute, perDay } = history.limitsDuring(quota, sentMs, receivedMs);
  limits.check(
    perMinute.includes(headers.minute.q) && perDay.includes(headers.day.q),
    () =>
      `${id} reports the limits ${headers.minute.q} and ${headers.day.q} of ${quota}, which are not in force`,
  );
  if (response.code === 'api_key_banned') {
    const atSeconds = (headers.reset ?? 0) - (headers.retryAfter ?? 0);
    remaining.check(
      // Both are rounded up.
      [atSeconds, atSeconds - 1].some((seconds) => history.isAtTime(response, seconds * 1000)),
      () => `${id} reports an end of the ban that its Retry-After does not lead to`,
    );
  } else {
    const atSeconds = (headers.reset ?? 0) - tighterSeconds(headers);
    limits.check(
      history.isAtTime(response, atSeconds * 1000) &&
        WINDOWS.every(({ name, lengthMs }) => (atSeconds + headers[name].t) % (lengthMs / 1000) === 0),
      () => `${id} was counted in windows of ${quota} that were not open by the store's clock`,
    );
  }
  if (response.code === 'rate_limit_exceeded') {
    remaining.check(
      headers.minute.r === 0 || headers.day.r === 0,
      () => `${id} is denied, though it reports ${headers.minute.r} and ${headers.day.r} remaining`,
    );
  }
}

/**
 * Returns the seconds to the end of the window that `X-RateLimit-Reset` describes: fewer remaining, on a tie
 * the later end.
 */
function tighterSeconds({ minute, day }: Counted['headers']): number {
  return minute.r < day.r || (minute.r === day.r && minute.t > day.t) ? minute.t : day.t;
}

interface Group {
  quota: string;
  /** The window, by the monotonic clock. */
  fromMs: number;
  toMs: number;
  responses: Counted[];
}

/** Returns the responses of each window of each quota, by a name for them. */
function groupByWindow(
  responses: Counted[],
  { name, lengthMs }: Window,
  history: History,
  claim: Claim,
): Map<string, Group> {
  const groups = new Map<string, Group>();
  for (const response of responses) {
    const number = history.findWindow(response, lengthMs, response.headers[name].t);
    if (number === null) {
      claim.weaken();
      continue;
    }
    const start = new Date(number * lengthMs).toISOString();
    const key = `the ${name} ${start} of ${response.quota}`;
    const fromMs = history.toMonotonicMs(start);
    const group = groups.get(key) ?? {
      quota: response.quota,
      fromMs,
      toMs: fromMs + lengthMs,
      responses: [],
    };
    group.responses.push(response);
    groups.set(key, group);
  }
  return groups;
}

/**
 * No window allows more than its limit; after a crash, no more beyond it than the crash may have forgotten.
 */
function checkLimit(
  name: string,
  { quota, fromMs, toMs, responses: all }: Group,
  { limit }: Window,
  history: History,
  { limits, exceptions }: Record<'limits' | 'exceptions', Claim>,
): void {
  const most = Math.max(...history.limitsDuring(quota, fromMs, toMs)[limit]);
  const responses = all.filter((response) => !isDenied(response));
  const excess = responses.length - most;
  const forgotten = excess > 0 ? history.countForgotten(responses, fromMs, toMs) : 0;
  const describe = () =>
    `${name} allowed ${responses.length} of ${most}, and crashes may have forgotten ${forgotten}`;
  if (excess > 0 && forgotten > 0) {
    exceptions.check(excess <= forgotten, describe);
  } else {
    limits.check(excess <= 0, describe);
  }
}

/** Whether the shared store may have counted a request in a window, or in the next, or not at all. */
function mayBeCounted(request: Request, { name, lengthMs }: Window, history: History): boolean {
  return (
    request.quota !== null &&
    (isUncertain(request) ||
      (isCounted(request) && history.findWindow(request, lengthMs, request.headers[name].t) === null))
  );
}

/** Only requests consume from a window, so a denied request that reports it full had no room. */
function checkTaken(
  name: string,
  { responses }: Group,
  { name: window }: Window,
  unknown: number,
  claim: Claim,
): void {
  const taken = greatestOf(responses, ({ headers }) => headers[window].q - headers[window].r);
  const allowed = responses.filter((response) => !isDenied(response)).length;
  claim.check(
    taken <= allowed + unknown,
    () => `${name} reports ${taken} taken, but allowed ${allowed}, and ${unknown} more at most`,
  );
}

/**
 * Each allowed request reports another remaining count, and a later request less, measured by what is used,
 * because the limit may change. A denied request consumes nothing, so it may repeat an earlier report; if
 * nothing remains, more may be used than it reports.
 */
function checkRemaining(name: string, responses: Counted[], window: Window, claim: Claim): void {
  const used = ({ headers }: Counted) => headers[window.name].q - headers[window.name].r;
  const seen = new Map<number, Counted>();
  const byReceipt = responses.toSorted((one, other) => one.receivedMs - other.receivedMs);
  let received = 0;
  let latest: Counted | undefined;
  for (const response of responses.toSorted((one, other) => one.sentMs - other.sentMs)) {
    while ((byReceipt[received]?.receivedMs ?? Infinity) < response.sentMs) {
      const before = byReceipt[received] as Counted;
      latest = latest === undefined || used(before) > used(latest) ? before : latest;
      received += 1;
    }
    const { id, headers } = response;
    const { q, r } = headers[window.name];
    const least = latest === undefined ? 0 : used(latest);
    if (isDenied(response)) {
      claim.check(
        r === 0 || least <= q - r,
        () =>
          `${id} was sent after the response to ${latest?.id}, but reports more remaining in ${name}: ${r}`,
      );
      continue;
    }
    const twin = seen.get(q - r);
    claim.check(twin === undefined, () => `${twin?.id} and ${id} both report ${r} remaining in ${name}`);
    claim.check(
      least < q - r,
      () =>
        `${id} was sent after the response to ${latest?.id}, but reports no less remaining in ${name}: ${r}`,
    );
    seen.set(q - r, response);
  }
}

/**
 * After a crash the count goes on from what was counted before the time that the crash may have forgotten.
 */
function checkKept(name: string, responses: Counted[], window: Window, history: History, claim: Claim): void {
  const used = ({ headers }: Counted) => headers[window.name].q - headers[window.name].r;
  const allowed = responses.filter((response) => !isDenied(response));
  for (const { startMs } of history.crashes) {
    const later = allowed.filter(({ sentMs }) => sentMs > startMs);
    const kept = allowed.filter(
      (response) => response.receivedMs < startMs && !history.mayForget(response, startMs),
    );
    if (later.length === 0 || kept.length === 0) {
      continue;
    }
    const least = later.reduce((one, other) => (used(other) < used(one) ? other : one));
    const most = kept.reduce((one, other) => (used(other) > used(one) ? other : one));
    claim.check(
      used(least) > used(most),
      () =>
        `${least.id} reports that a crash forgot ${most.id} in ${name}, though it was counted long before`,
    );
  }
}

/** A replica decides by itself only while it cannot reach the store. */
function checkLocal({ id, replica, sentMs, receivedMs }: Counted, history: History, claim: Claim): void {
  claim.check(
    history.mayBeAway(replica, sentMs, receivedMs),
    () => `${id} was decided by ${replica} alone, though nothing kept it from the store`,
  );
}

/** By itself, a replica allows at most one limit of a window. */
function checkLocalLimit(local: Counted[], window: Window, history: History, claim: Claim): void {
  const allowed = local.filter((request) => !isDenied(request));
  for (const [replica, responses] of groupBy(allowed, (response) => response.replica)) {
    for (const [name, group] of groupByWindow(responses, window, history, claim)) {
      const { quota, fromMs, toMs } = group;
      const most = Math.max(...history.limitsDuring(quota, fromMs, toMs)[window.limit]);
      const bound = most * (1 + history.countRestarts(replica, fromMs, toMs));
      claim.check(
        group.responses.length <= bound,
        () => `${replica} alone allowed ${group.responses.length} in ${name}, of ${bound} at most`,
      );
    }
  }
}
