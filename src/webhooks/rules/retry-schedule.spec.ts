import { nextWaitMs } from './retry-schedule.js';

const DAY_MS = 86_400_000;

/** Returns the waits after each failed attempt. */
function allWaits(random: number): number[] {
  const waits: number[] = [];
  for (let wait = nextWaitMs(1, random); wait !== null;) {
    waits.push(wait);
    wait = nextWaitMs(waits.length + 1, random);
  }
  return waits;
}

describe('nextWaitMs', () => {
  it('grows with each attempt, and all waits together take most of a day, but no more', () => {
    for (const random of [0, 0.5, 1]) {
      const waits = allWaits(random);
      expect(waits).toEqual(waits.toSorted((one, other) => one - other));
      const sum = waits.reduce((total, wait) => total + wait, 0);
      expect(sum).toBeGreaterThan(0.75 * DAY_MS);
      expect(sum).toBeLessThan(DAY_MS);
    }
  });

  it('is up to a fifth shorter at random', () => {
    expect([0, 0.5, 1].map((random) => nextWaitMs(1, random))).toEqual([15_000, 13_500, 12_000]);
  });

  it('is null after the eleventh attempt', () => {
    expect(allWaits(0)).toHaveLength(10);
    expect(nextWaitMs(11, 0)).toBeNull();
  });
});
