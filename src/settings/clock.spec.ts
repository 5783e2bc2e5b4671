import { ServerClock } from './clock.js';

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
    time.observe(observedMs);
    monotonicMs += 90_000;
    expect(time.now()).toBe(observedMs + 90_000);
  });

  it('counts from the first of several responses with the same time', () => {
    time.observe(5000);
    monotonicMs += 7;
    time.observe(5000);
    expect(time.now()).toBe(5007);
    time.observe(6000);
    expect(time.now()).toBe(6000);
  });
});
