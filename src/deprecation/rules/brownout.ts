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

/** Returns the last brownout that has begun at `nowMs`, whether it is over or not; null if none has. */
export function lastBrownout({ brownouts = [] }: BrownoutCalendar, nowMs: number): Brownout | null {
  return brownouts.findLast(({ from }) => from.getTime() <= nowMs) ?? null;
}

/**
 * Returns whether the brownouts follow each other between the deprecation and the removal. They begin and end at full hours UTC, because
 * calls are counted by the hour.
 */
export function areInOrder({ since, removal, brownouts = [] }: BrownoutCalendar): boolean {
  const ends = [since, ...brownouts.map(({ until }) => until)];
  return (
    (ends.at(-1) ?? since) <= removal &&
    brownouts.every(({ from, until }, index) => (ends[index] ?? since) <= from && from < until) &&
    brownouts.flatMap(({ from, until }) => [from, until]).every((at) => at.getTime() % HOUR_MS === 0)
  );
}
