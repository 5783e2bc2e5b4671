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

const dayOf = ({ startsAt }: MinuteOfRequests) => startsAt.slice(0, 10);

/** Returns the number of UTC days that have one of these minutes. */
export const countDays = (minutes: readonly MinuteOfRequests[]) => new Set(minutes.map(dayOf)).size;

/** Returns the number of requests in these minutes. */
export const countRequests = (minutes: readonly MinuteOfRequests[]) =>
  minutes.reduce((sum, { requests }) => sum + requests, 0);

/**
 * Returns what limits would have denied of requests, by the rules of both windows: a denied request takes nothing from either. The order
 * of the requests within a minute does not change the counts.
 *
 * @param minutes oldest first, each once. The first day must be whole: requests that are missing take nothing from its window.
 */
export function replayLimits(minutes: readonly MinuteOfRequests[], { perMinute, perDay }: Limits) {
  let day = '';
  let remaining = 0;
  const deniedMinutes = minutes.flatMap((minute) => {
    if (dayOf(minute) !== day) {
      day = dayOf(minute);
      remaining = perDay;
    }
    const { startsAt, requests } = minute;
    const allowed = Math.min(requests, perMinute, remaining);
    remaining -= allowed;
    return requests === allowed ? [] : { startsAt, requests, denied: requests - allowed };
  });
  // The sort is stable: of several minutes, the first is the worst.
  const [worstMinute = null] = deniedMinutes.toSorted((a, b) => b.denied - a.denied);
  return {
    denied: deniedMinutes.reduce((sum, { denied }) => sum + denied, 0),
    deniedMinutes: deniedMinutes.length,
    deniedDays: countDays(deniedMinutes),
    worstMinute,
  };
}

/**
 * Returns the smallest plans that would have denied none, and fewer than 0.1 % of the requests; null for no plan. A plan is smaller if it
 * allows fewer per day, then per minute.
 */
export function smallestPlans<Plan extends Limits>(
  minutes: readonly MinuteOfRequests[],
  plans: readonly Plan[],
) {
  const requests = countRequests(minutes);
  const replayed = plans
    .toSorted((a, b) => a.perDay - b.perDay || a.perMinute - b.perMinute)
    .map((plan) => ({ plan, ...replayLimits(minutes, plan) }));
  return {
    denyingNone: replayed.find(({ denied }) => denied === 0)?.plan ?? null,
    denyingFew: replayed.find(({ denied }) => denied === 0 || denied * FEW < requests)?.plan ?? null,
  };
}
