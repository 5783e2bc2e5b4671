import { Breaker } from './breaker.js';

describe('a breaker', () => {
  it('opens by the third failure in a row, and says so once', () => {
    const breaker = new Breaker();
    expect([breaker.failed(false), breaker.failed(false), breaker.state === 'open']).toEqual([
      false,
      false,
      false,
    ]);
    expect([breaker.failed(false), breaker.state === 'open']).toEqual([true, true]);
    expect([breaker.failed(false), breaker.failed(true), breaker.state === 'open']).toEqual([
      false,
      false,
      true,
    ]);
  });

  it('begins to count anew after a success', () => {
    const breaker = new Breaker();
    breaker.failed(false);
    breaker.failed(false);
    breaker.succeeded();
    expect([breaker.failed(false), breaker.failed(false), breaker.state === 'open']).toEqual([
      false,
      false,
      false,
    ]);
  });

  it('opens at once by a failure that leaves no doubt', () => {
    const breaker = new Breaker();
    expect([breaker.failed(true), breaker.state === 'open']).toEqual([true, true]);
  });

  it('closes by a success of those who may try again, and says so once', () => {
    const breaker = new Breaker();
    breaker.failed(true);
    breaker.halfOpen();
    expect(breaker.state === 'open').toBe(false);
    expect([breaker.succeeded(), breaker.succeeded()]).toEqual([true, false]);
    expect([breaker.failed(false), breaker.failed(false), breaker.state === 'open']).toEqual([
      false,
      false,
      false,
    ]);
    expect(breaker.failed(false)).toBe(true);
  });

  it('is not closed by the answer to an earlier question', () => {
    const breaker = new Breaker();
    breaker.failed(true);
    expect([breaker.succeeded(), breaker.state === 'open']).toEqual([false, true]);
  });

  it('opens again by the first failure of those who try again, which is still the same outage', () => {
    const breaker = new Breaker();
    breaker.failed(true);
    for (let tries = 0; tries < 3; tries += 1) {
      breaker.halfOpen();
      expect([breaker.failed(false), breaker.state === 'open']).toEqual([false, true]);
    }
    breaker.halfOpen();
    expect(breaker.succeeded()).toBe(true);
  });

  it('that is closed has nothing to try again', () => {
    const breaker = new Breaker();
    breaker.halfOpen();
    expect([breaker.succeeded(), breaker.failed(false), breaker.state === 'open']).toEqual([
      false,
      false,
      false,
    ]);
  });
});
