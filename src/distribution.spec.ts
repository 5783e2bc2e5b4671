import { Distribution } from './distribution.js';

describe('a distribution', () => {
  it('counts each value at the first bound that it is not above, or above all, and adds them up', () => {
    const distribution = new Distribution([1, 10]);
    for (const value of [0, 1, 1.5, 10, 11, 1000]) {
      distribution.add(value);
    }
    expect(distribution.counts).toEqual([2, 2, 2]);
    expect(distribution.sum).toBe(1023.5);
    expect(distribution.count).toBe(6);
  });
});
