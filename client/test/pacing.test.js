import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inFlightLimit, learn, waitForWindowsMs, windowAt } from '../dist/pacing.js';
import { rateLimitWindows } from '../dist/rate-limit-headers.js';

const reported = (remaining, resetSeconds) => ({
  name: 'minute',
  limit: 60,
  lengthSeconds: 60,
  remaining,
  resetSeconds,
});
const at = (sentAtMs, receivedAtMs) => ({ sentAtMs, receivedAtMs });
const first = learn(undefined, reported(50, 30), at(1000, 1100));

describe('learn', () => {
  it('bounds the reset by the rounding of its seconds and the time of the response', () => {
    assert.deepEqual(first, {
      name: 'minute',
      limit: 60,
      lengthMs: 60_000,
      remaining: 50,
      resetAfterMs: 30_000,
      resetByMs: 31_100,
      knownAtMs: 1100,
      usedPerResponse: 10,
    });
  });

  it('expects other clients when a window is partly used before the first response', () => {
    assert.equal(inFlightLimit([first]), 2);
    assert.equal(learn(undefined, reported(59, 30), at(1000, 1100)).usedPerResponse, 1);
  });

  it('narrows the bounds of the reset with each response', () => {
    const { resetAfterMs, resetByMs } = learn(first, reported(49, 29), at(1950, 2000));
    assert.deepEqual([resetAfterMs, resetByMs], [30_000, 31_000]);
  });

  it('keeps the lower remaining of two responses to concurrent requests', () => {
    assert.equal(learn(first, reported(51, 30), at(1050, 1200)).remaining, 50);
    assert.equal(learn(first, reported(42, 30), at(1050, 1200)).remaining, 42);
  });

  it('accepts a newer response that reports more, as after a change of plan', () => {
    assert.equal(learn(first, reported(300, 29), at(1500, 1600)).remaining, 300);
  });

  it('ignores a late response of an earlier window', () => {
    const next = windowAt(first, 31_100);
    assert.equal(learn({ ...next, knownAtMs: 31_200 }, reported(0, 1), at(30_000, 31_300)).remaining, 60);
  });

  it('adopts a later window', () => {
    const { remaining, resetByMs } = learn(first, reported(59, 60), at(31_000, 31_050));
    assert.deepEqual([remaining, resetByMs], [59, 91_050]);
  });

  it('counts what is used for each response, others included', () => {
    const { usedPerResponse } = learn({ ...first, usedPerResponse: 1 }, reported(41, 29), at(1500, 1600));
    assert.equal(usedPerResponse, 3);
  });
});

describe('windowAt', () => {
  it('returns the window unchanged before its reset', () => {
    assert.equal(windowAt(first, 31_099), first);
  });

  it('returns a full window from the latest time of its reset', () => {
    const { remaining, resetByMs } = windowAt(first, 31_100);
    assert.deepEqual([remaining, resetByMs], [60, 91_100]);
  });

  it('skips windows that nobody used', () => {
    assert.equal(windowAt(first, 31_100 + 150_000).resetByMs, 31_100 + 180_000);
  });
});

describe('inFlightLimit', () => {
  const limitAt = (remaining, usedPerResponse = 1) =>
    inFlightLimit([{ ...first, remaining, usedPerResponse }]);

  it('returns half of what remains, and always one', () => {
    assert.deepEqual(
      [60, 16, 4, 3, 2, 1].map((remaining) => limitAt(remaining)),
      [30, 8, 2, 1, 1, 1],
    );
  });

  it('returns half of the share of this client when others use the key', () => {
    assert.equal(limitAt(48, 4), 6);
  });

  it('returns 0 when a window is spent', () => {
    assert.equal(inFlightLimit([first, { ...first, remaining: 0 }]), 0);
  });

  it('returns no limit when nothing is known', () => {
    assert.equal(inFlightLimit([]), Infinity);
  });
});

describe('waitForWindowsMs', () => {
  it('returns 0 for a call that the window has room for', () => {
    assert.equal(waitForWindowsMs([first], 49, 2000), 0);
  });

  it('returns the time to the reset, and a length more for each full window before it', () => {
    assert.equal(waitForWindowsMs([first], 50, 2000), 29_100);
    assert.equal(waitForWindowsMs([first], 109, 2000), 29_100);
    assert.equal(waitForWindowsMs([first], 110, 2000), 89_100);
  });

  it('returns the longest wait of all windows', () => {
    const day = { ...first, limit: 1000, remaining: 0, resetByMs: 50_000_000, lengthMs: 86_400_000 };
    assert.equal(waitForWindowsMs([first, day], 0, 0), 50_000_000);
  });

  it('returns Infinity when the limit is 0', () => {
    assert.equal(waitForWindowsMs([{ ...first, limit: 0, remaining: 0 }], 0, 0), Infinity);
  });
});

describe('rateLimitWindows', () => {
  const read = (limit, policy) =>
    rateLimitWindows(new Headers({ RateLimit: limit, 'RateLimit-Policy': policy }));
  const minute = { name: 'minute', limit: 60, remaining: 50, resetSeconds: 30, lengthSeconds: 60 };

  it('returns the windows that both headers name', () => {
    const day = { name: 'day', limit: 1000, remaining: 900, resetSeconds: 3600, lengthSeconds: 86_400 };
    const policy = '"minute";q=60;w=60, "day";q=1000;w=86400, "hour";q=100;w=3600';
    assert.deepEqual(read('"minute";r=50;t=30, "day";r=900;t=3600', policy), [minute, day]);
  });

  it('ignores parameters that it does not need', () => {
    const policy = '"minute";q=60;qu="requests, r=1";w=60;x;y=1.5;pk=:dw==:';
    assert.deepEqual(read('"minute"; r=50; pk=:dw==:; t=30', policy), [minute]);
  });

  it('returns no window without its remaining requests or its reset', () => {
    assert.deepEqual(read('"minute";r=50', '"minute";q=60;w=60'), []);
  });
});
