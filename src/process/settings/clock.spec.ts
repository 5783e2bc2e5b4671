import { ServerClock } from '../clock.js';

describe('ServerClock', () => {
  let monotonicMs = 1000;
  const clock = { now: () => Date.UTC(2027, 2, 5, 12), monotonicMs: () => monotonicMs };
  let time: ServerClock;

  beforeEach(() => {
    time = new ServerClock(clock);
  });

  it('returns the time of this process until it has observed a time of the server', () => {
    monotonicMs += 500;
    expect(time.now()).toBe(clock.now() + 500);
  });

  it('continues from the last observed time by the monotonic clock, not by the clock of this process', () => {
    const observedMs = clock.now() - 300_000;
    time.observe(observedMs, monotonicMs);
    monotonicMs += 90_000;
    expect(time.now()).toBe(observedMs + 90_000);
  });

  it('keeps its time when a response comes late, as in a process that was suspended', () => {
    time.observe(5000, monotonicMs);
    const sentMs = monotonicMs;
    monotonicMs += 2400;
    time.observe(5001, sentMs);
    expect(time.now()).toBe(7400);
  });

  it('follows the clock of the server when that is set, from either side', () => {
    time.observe(5000, monotonicMs);
    monotonicMs += 10;
    time.observe(9000, monotonicMs - 10);
    expect(time.now()).toBe(9000);
    monotonicMs += 10;
    time.observe(6000, monotonicMs - 10);
    expect(time.now()).toBe(6010);
  });
});
