import { Histogram } from './histogram.js';

describe('Histogram', () => {
  it('counts each value in the first bucket whose bound it does not exceed, or in the last one, and sums the values', () => {
    const histogram = new Histogram([1, 10]);
    for (const value of [0, 1, 1.5, 10, 11, 1000]) {
      histogram.observe(value);
    }
    expect(histogram.counts).toEqual([2, 2, 2]);
    expect(histogram.sum).toBe(1023.5);
    expect(histogram.count).toBe(6);
  });
});
