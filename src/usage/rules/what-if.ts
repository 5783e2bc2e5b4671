/** A plan denies few requests if it would deny fewer than one in this number. */
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
 * Returns the names of the first plan that would have denied no request, and of the first that would have
 * denied fewer than 0.1 %; null if no plan would.
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
