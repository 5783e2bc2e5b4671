import { placeLimitLine } from './limit-line';

describe('placeLimitLine', () => {
  it.each([
    [4, 0, { y: 4, label: 'Limit 4' }],
    [60, 15, { y: 60, label: 'Limit 60' }],
    // Other replicas let more requests through.
    [60, 100, { y: 60, label: 'Limit 60' }],
  ])('places the line of limit %i at its height if bars reach %i', (limit, highest, line) => {
    expect(placeLimitLine(limit, highest)).toEqual(line);
  });

  it.each([
    [61, 15],
    [10_000, 0],
    [1_000_000, 40_000],
  ])('gives the limit %i, far above bars up to %i, a label without a line', (limit, highest) => {
    expect(placeLimitLine(limit, highest)).toEqual({
      y: null,
      label: expect.stringMatching(/^Limit .* \(above this scale\)$/),
    });
  });
});
