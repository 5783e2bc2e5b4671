const HOUR_MS = 3_600_000;

/** A time at which a deprecated operation is already gone, so that its callers notice before the removal. */
export interface Brownout {
  from: Date;
  /** From this instant, the operation works again. */
  until: Date;
}

/** The calendar of a deprecated operation. */
interface BrownoutCalendar {
  since: Date;
  removal: Date;
  brownouts?: readonly Brownout[];
}

/** Returns the brownout that is in progress at `nowMs`, or null. */
export function currentBrownout({ brownouts = [] }: BrownoutCalendar, nowMs: number): Brownout | null {
  return brownouts.find(({ from, until }) => from.getTime() <= nowMs && nowMs < until.getTime()) ?? null;
}

/** Returns the last brownout that has begun at `nowMs`, whether it is over or not; null if none has. */
export function lastBrownout({ brownouts = [] }: BrownoutCalendar, nowMs: number): Brownout | null {
  return brownouts.findLast(({ from }) => from.getTime() <= nowMs) ?? null;
}

/**
 * Returns what is wrong with the brownouts of an operation, or null. They begin and end at full hours, because its calls are known by the
 * hour.
 */
export function brownoutFault({ since, removal, brownouts = [] }: BrownoutCalendar): string | null {
  let earliest = since;
  for (const { from, until } of brownouts) {
    const named = `the brownout from ${timeText(from)} until ${timeText(until)}`;
    if ([from, until].some((instant) => instant.getTime() % HOUR_MS !== 0)) {
      return `${named} does not begin and end at a full hour UTC`;
    }
    if (from >= until) {
      return `${named} does not end after its begin`;
    }
    if (from < earliest) {
      return `${named} begins before ${timeText(earliest)}, the ${earliest === since ? 'deprecation' : 'end of the one before'}`;
    }
    if (until > removal) {
      return `${named} ends after ${timeText(removal)}, the removal`;
    }
    earliest = until;
  }
  return null;
}

/** Returns a time to the second, such as `2030-11-05T12:00:00Z`. */
export function timeText(instant: Date): string {
  return Number.isNaN(instant.getTime()) ? 'no time' : instant.toISOString().replace('.000Z', 'Z');
}
