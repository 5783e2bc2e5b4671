import { ServerClock } from './clock.js';

const clock = { storeOffsetMs: 0, now: () => Date.UTC(2027, 2, 5, 12) };

describe("the store's time", () => {
  let monotonicMs = 1000;

  beforeEach(() => {
    jest.spyOn(performance, 'now').mockImplementation(() => monotonicMs);
  });
  afterEach(() => jest.restoreAllMocks());

  it("is this process's own until the store has told it", () => {
    const time = new ServerClock(clock);
    monotonicMs += 500;
    expect(time.now()).toBe(clock.now() + 500);
  });

  it('goes on from the last that it told, by the monotonic clock, whatever the own clock says', () => {
    const time = new ServerClock(clock);
    const toldMs = clock.now() - 300_000;
    time.observe(toldMs);
    monotonicMs += 90_000;
    expect(time.now()).toBe(toldMs + 90_000);
  });

  it('is heard from the first of several answers that tell the same', () => {
    const time = new ServerClock(clock);
    time.observe(5000);
    monotonicMs += 7;
    time.observe(5000);
    expect(time.now()).toBe(5007);
    time.observe(6000);
    expect(time.now()).toBe(6000);
  });
});
