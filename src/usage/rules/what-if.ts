/** The parts of the requests that a plan may deny for which the smallest plans are returned. */
const DENIED_RATIOS = [0, 0.001];

export interface MinuteOfRequests {
  /** The start of the minute in ISO form, so that it begins with the UTC day. */
  startsAt: string;
  /** All that were sent, those that were denied then included. */
  requests: number;
}

interface Limits {
  perMinute: number;
  perDay: number;
}

/**
 * Returns what limits would have denied of requests, by the rules of both windows: a denied request takes
 * nothing from either. The order of the requests within a minute does not change the counts.
 *
 * @param minutes oldest first, each once. The first day must be whole: requests that are missing take nothing
 *   from its window.
 */
export function replayLimits(minutes: readonly MinuteOfRequests[], { perMinute, perDay }: Limits) {
  const total = { recordedDays: 0, requests: 0, denied: 0, deniedMinutes: 0, deniedDays: 0 };
  let worstMinute: (MinuteOfRequests & { denied: number }) | null = null;
  let today: { day: string; remaining: number; isDenied: boolean } | undefined;
  // One pass, without an object for each minute: a month has 43,200 minutes, which are replayed for every
  // plan while other requests wait.
  for (const minute of minutes) {
    const day = minute.startsAt.slice(0, 10);
    if (day !== today?.day) {
      today = { day, remaining: perDay, isDenied: false };
      total.recordedDays += 1;
    }
    const allowed = Math.min(minute.requests, perMinute, today.remaining);
    const denied = minute.requests - allowed;
    today.remaining -= allowed;
    total.requests += minute.requests;
    total.denied += denied;
    if (denied > 0) {
      total.deniedMinutes += 1;
      total.deniedDays += Number(!today.isDenied);
      today.isDenied = true;
    }
    if (denied > (worstMinute?.denied ?? 0)) {
      worstMinute = { ...minute, denied };
    }
  }
  return { ...total, worstMinute };
}

/**
 * Returns for each of `DENIED_RATIOS` the name of the first plan that would have denied no larger part of the
 * requests; null if every plan would have.
 *
 * @param plans the smallest first.
 */
export function smallestPlans(
  minutes: readonly MinuteOfRequests[],
  plans: readonly (Limits & { name: string })[],
) {
  const replayed = plans.map((plan) => {
    const { denied, requests } = replayLimits(minutes, plan);
    return { name: plan.name, deniedRatio: denied === 0 ? 0 : denied / requests };
  });
  return DENIED_RATIOS.map((maxDeniedRatio) => ({
    maxDeniedRatio,
    plan: replayed.find(({ deniedRatio }) => deniedRatio <= maxDeniedRatio)?.name ?? null,
  }));
}
