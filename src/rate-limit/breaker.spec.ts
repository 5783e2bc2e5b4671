import { Breaker } from './breaker.js';

describe('a breaker', () => {
  it('opens by the third failure in a row, and says so once', () => {
    const breaker = new Breaker();
    expect([breaker.failed(false), breaker.failed(false), breaker.isOpen]).toEqual([false, false, false]);
    expect([breaker.failed(false), breaker.isOpen]).toEqual([true, true]);
    expect([breaker.failed(false), breaker.failed(true), breaker.isOpen]).toEqual([false, false, true]);
  });

  it('begins to count anew after a success', () => {
    const breaker = new Breaker();
    breaker.failed(false);
    breaker.failed(false);
    breaker.succeeded();
    expect([breaker.failed(false), breaker.failed(false), breaker.isOpen]).toEqual([false, false, false]);
  });

  it('opens at once by a failure that leaves no doubt', () => {
    const breaker = new Breaker();
    expect([breaker.failed(true), breaker.isOpen]).toEqual([true, true]);
  });

  it('closes by a success', () => {
    const breaker = new Breaker();
    breaker.failed(true);
    breaker.succeeded();
    expect(breaker.isOpen).toBe(false);
  });
});
