/** Fewer than one request in this number denied is few. */
const FEW = 1000;

/** The requests of a quota in one UTC minute. */
export interface MinuteOfRequests {
  /** The start of the minute in ISO form, so that it begins with the UTC day. */
  startsAt: string;
  /** All that were sent, also those that were denied then. */
  requests: number;
}

/** Requests per UTC minute and per UTC day. */
interface Limits {
  perMinute: number;
  perDay: number;
}

const utcDay = ({ startsAt }: MinuteOfRequests) => startsAt.slice(0, 10);

/**
 * Returns what limits would have denied of requests, by the rules of both windows: a denied request takes nothing from either. The order
 * of the requests within a minute does not change the counts.
 *
 * @param minutes oldest first, each once. The first day must be whole: requests that are missing take nothing from its window.
 */
export function replayLimits(minutes: readonly MinuteOfRequests[], { perMinute, perDay }: Limits) {
  const remaining = new Map<string, number>();
  const deniedMinutes = minutes.flatMap((minute) => {
    const ofDay = remaining.get(utcDay(minute)) ?? perDay;
    const allowed = Math.min(minute.requests, perMinute, ofDay);
    remaining.set(utcDay(minute), ofDay - allowed);
    return minute.requests === allowed ? [] : { ...minute, denied: minute.requests - allowed };
  });
  return {
    recordedDays: remaining.size,
    requests: minutes.reduce((sum, { requests }) => sum + requests, 0),
    denied: deniedMinutes.reduce((sum, { denied }) => sum + denied, 0),
    deniedMinutes: deniedMinutes.length,
    deniedDays: new Set(deniedMinutes.map(utcDay)).size,
    // The sort is stable: of several minutes, the first is the worst.
    worstMinute: deniedMinutes.toSorted((a, b) => b.denied - a.denied)[0] ?? null,
  };
}

/**
 * Returns the names of the first plans that would have denied none, and fewer than 0.1 % of the requests; null for no plan.
 *
 * @param plans the smallest first.
 */
export function smallestPlans(
  minutes: readonly MinuteOfRequests[],
  plans: readonly (Limits & { name: string })[],
) {
  const replayed = plans.map((plan) => ({ name: plan.name, ...replayLimits(minutes, plan) }));
  const few = replayed.find(({ denied, requests }) => denied === 0 || denied * FEW < requests);
  return {
    denyingNone: replayed.find(({ denied }) => denied === 0)?.name ?? null,
    denyingFew: few?.name ?? null,
  };
}
