import { setTimeout as pause } from 'node:timers/promises';
import { Clock } from '../../../src/process/clock.js';
import { moveTestTimeTo, stopTestTimeAt, testTimeAheadMs, testTimeMs } from './test-time.js';

// Durations in milliseconds.
export const SECOND_MS = 1000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/**
 * A clock that a test sets, together with the others of its file and with the stores that follow its time.
 */
export class TestClock extends Clock {
  override now(): number {
    return testTimeMs();
  }

  override monotonicMs(): number {
    return super.monotonicMs() + testTimeAheadMs();
  }

  /** Stops at an instant, to the millisecond, for this process and its databases. */
  stopAt(instant: Date): void {
    stopTestTimeAt(instant.getTime());
  }

  /** Resumes from where it stopped. */
  goOn(): void {
    moveTestTimeTo(testTimeMs());
  }

  /** Moves to an instant, for this process and the store alike, and resumes if it was stopped. */
  travelTo(instant: Date): void {
    moveTestTimeTo(instant.getTime());
  }

  /** Moves to the time of the machine. */
  returnToPresent(): void {
    moveTestTimeTo(Date.now());
  }

  /** Moves to the start of the next minute, so that what follows happens within one. */
  travelToMinuteStart(): void {
    this.travelTo(new Date((Math.floor(this.now() / MINUTE_MS) + 1) * MINUTE_MS));
  }

  travel(milliseconds: number): void {
    moveTestTimeTo(testTimeMs() + milliseconds);
  }
}

/** The clock of a replica that is ahead or behind; the clock of its store is right. */
export class WrongClock extends TestClock {
  constructor(private readonly aheadMs: number) {
    super();
  }

  override now(): number {
    return super.now() + this.aheadMs;
  }
}

/** Waits for the next minute if less than `ms` of this one are left, for services that use the real clock. */
export async function untilMinuteLasts(ms: number): Promise<void> {
  const leftMs = MINUTE_MS - (Date.now() % MINUTE_MS);
  await pause(leftMs < ms ? leftMs : 0);
}
