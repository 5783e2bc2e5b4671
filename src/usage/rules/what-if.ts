const MINUTES_PER_DAY = 1440;
/** Fewer than one request in this number denied is few. */
const FEW = 1000;

/** The requests of a quota in one UTC minute. */
export interface MinuteOfRequests {
  /** The minute's number since the Unix epoch. */
  minute: number;
  /** All that were sent, also those that were denied then. */
  requests: number;
}

/** Requests per UTC minute and per UTC day. */
interface Limits {
  perMinute: number;
  perDay: number;
}

/** What limits would have denied. */
interface Replay {
  denied: number;
  /** Minutes in which a request would have been denied, and UTC days. */
  deniedMinutes: number;
  deniedDays: number;
  /** The minute with the most denied requests, the first of several; null if none would have been denied. */
  worstMinute: (MinuteOfRequests & { denied: number }) | null;
}

/**
 * Returns what limits would have denied of requests, by the rules of both windows: a denied request takes nothing from either. The order
 * of the requests within a minute does not change the counts.
 *
 * @param minutes oldest first, each once. The first day must be whole: requests that are missing take nothing from its window.
 * @param enough ends the replay once this number of requests is denied.
 */
export function replayLimits(
  minutes: readonly MinuteOfRequests[],
  { perMinute, perDay }: Limits,
  enough = Infinity,
): Replay {
  const replay: Replay = { denied: 0, deniedMinutes: 0, deniedDays: 0, worstMinute: null };
  let day: number | null = null;
  let remainingOfDay = 0;
  let lastDeniedDay: number | null = null;
  for (const { minute, requests } of minutes) {
    if (Math.floor(minute / MINUTES_PER_DAY) !== day) {
      day = Math.floor(minute / MINUTES_PER_DAY);
      remainingOfDay = perDay;
    }
    const allowed = Math.min(requests, perMinute, remainingOfDay);
    remainingOfDay -= allowed;
    const denied = requests - allowed;
    if (denied > 0) {
      replay.denied += denied;
      replay.deniedMinutes += 1;
      replay.deniedDays += Number(day !== lastDeniedDay);
      lastDeniedDay = day;
      if (denied > (replay.worstMinute?.denied ?? 0)) {
        replay.worstMinute = { minute, requests, denied };
      }
      if (replay.denied >= enough) {
        break;
      }
    }
  }
  return replay;
}

/** Plans by what they would have denied; null for no plan. */
interface SmallestPlans<Plan> {
  denyingNone: Plan | null;
  /** Fewer than 0.1 % of the requests. */
  denyingFew: Plan | null;
}

/** Returns the smallest plans that would have denied none and few of the requests. A plan is smaller if it allows fewer per day, then per minute. */
export function smallestPlans<Plan extends Limits>(
  minutes: readonly MinuteOfRequests[],
  plans: readonly Plan[],
): SmallestPlans<Plan> {
  const requests = minutes.reduce((sum, each) => sum + each.requests, 0);
  let denyingFew: Plan | null = null;
  for (const plan of plans.toSorted((a, b) => a.perDay - b.perDay || a.perMinute - b.perMinute)) {
    // There may be many plans, and each replay takes milliseconds.
    const { denied } = replayLimits(minutes, plan, denyingFew === null ? requests / FEW : 1);
    if (denied === 0) {
      return { denyingNone: plan, denyingFew: denyingFew ?? plan };
    }
    if (denied * FEW < requests) {
      denyingFew ??= plan;
    }
  }
  return { denyingNone: null, denyingFew };
}
