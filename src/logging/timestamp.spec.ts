import { timestamp } from './timestamp.js';

describe('timestamp', () => {
  it('returns the field of each time, also when the clock goes back', () => {
    const nowMs = Date.UTC(2027, 2, 5, 12, 34, 56, 789);
    for (const [ms, text] of [
      [nowMs, '2027-03-05T12:34:56.789Z'],
      [nowMs, '2027-03-05T12:34:56.789Z'],
      [nowMs + 1, '2027-03-05T12:34:56.790Z'],
      [nowMs, '2027-03-05T12:34:56.789Z'],
    ] as const) {
      expect(timestamp(ms)).toBe(`,"time":"${text}"`);
    }
  });
});
