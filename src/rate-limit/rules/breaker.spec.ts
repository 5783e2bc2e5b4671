import { Breaker } from './breaker.js';

describe('Breaker', () => {
  it('opens at the third failure in a row, and reports that once', () => {
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

  it('counts from zero again after a success', () => {
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

  it('opens immediately after a failure that is certain', () => {
    const breaker = new Breaker();
    expect([breaker.failed(true), breaker.state === 'open']).toEqual([true, true]);
  });

  it('closes after a success while half open, and reports that once', () => {
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

  it('stays open after the success of an earlier query', () => {
    const breaker = new Breaker();
    breaker.failed(true);
    expect([breaker.succeeded(), breaker.state === 'open']).toEqual([false, true]);
  });

  it('opens again at the first failure while half open, as part of the same outage', () => {
    const breaker = new Breaker();
    breaker.failed(true);
    for (let tries = 0; tries < 3; tries += 1) {
      breaker.halfOpen();
      expect([breaker.failed(false), breaker.state === 'open']).toEqual([false, true]);
    }
    breaker.halfOpen();
    expect(breaker.succeeded()).toBe(true);
  });

  it('ignores halfOpen while closed', () => {
    const breaker = new Breaker();
    breaker.halfOpen();
    expect([breaker.succeeded(), breaker.failed(false), breaker.state === 'open']).toEqual([
      false,
      false,
      false,
    ]);
  });
});
