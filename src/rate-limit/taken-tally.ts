import type { Admission } from './admission.js';
import { dayOf, minuteOf } from './counter.js';
import type { Ask, Taken } from './counter-store.js';
import { SubjectMemory } from './subject-memory.js';

/** What this replica admitted and the store has surely not counted, until the store is told. */
export class TakenTally {
  private readonly waiting: SubjectMemory<Taken>;

  /** @param maxSubjects how many clients it remembers, and how many strangers. What one more was admitted is never added. */
  constructor(maxSubjects: number) {
    this.waiting = new SubjectMemory(maxSubjects);
  }

  /** How many subjects it is of. */
  get size(): number {
    return this.waiting.size;
  }

  /** Adds one request that was admitted at the time of its admission. */
  add({ subject, perMinute, perDay }: Ask, { nowMs }: Admission): void {
    const [minute, day] = [minuteOf(nowMs), dayOf(nowMs)];
    this.merge({ subject, perMinute, perDay, minute, minuteUsed: 1, day, dayUsed: 1 });
  }

  /** Hands out what so many subjects were admitted, to be told. */
  takeOut(count: number): Taken[] {
    return this.waiting.takeOut(count);
  }

  /** Takes back what could not be told. */
  takeBack(taken: readonly Taken[]): void {
    for (const one of taken) {
      this.merge(one);
    }
  }

  private merge(more: Taken): void {
    const stored = this.waiting.get(more);
    this.waiting.set(more, stored === undefined ? more : merged(stored, more));
  }
}

/** Of two windows only the later is of use, and those that are the same add up. */
function merged(stored: Taken, more: Taken): Taken {
  const later = more.minute >= stored.minute ? more : stored;
  return {
    ...later,
    minuteUsed: sumOfLater(stored.minute, stored.minuteUsed, more.minute, more.minuteUsed),
    day: Math.max(stored.day, more.day),
    dayUsed: sumOfLater(stored.day, stored.dayUsed, more.day, more.dayUsed),
  };
}

function sumOfLater(window: number, used: number, otherWindow: number, otherUsed: number): number {
  return (window >= otherWindow ? used : 0) + (otherWindow >= window ? otherUsed : 0);
}
