const HOUR_MS = 3_600_000;

/** A time at which a deprecated operation is already gone, so that its callers notice before the removal. */
export interface Brownout {
  from: Date;
  /** From this instant, the operation works again. */
  until: Date;
}

/** Returns the last brownout that has begun at `nowMs`, whether it is over or not. */
export function lastBrownout(brownouts: readonly Brownout[], nowMs: number): Brownout | undefined {
  return brownouts.findLast(({ from }) => from.getTime() <= nowMs);
}

/** Returns whether brownouts follow each other in this time. They begin and end at full hours UTC, because calls are counted by the hour. */
export function areInOrder(brownouts: readonly Brownout[], since: Date, removal: Date): boolean {
  const times = brownouts.flatMap(({ from, until }) => [from, until]);
  return (
    [...times, removal].every((time, index) => (times[index - 1] ?? since) <= time) &&
    times.every((time) => time.getTime() % HOUR_MS === 0) &&
    brownouts.every(({ from, until }) => from < until)
  );
}
