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
    [61, 15, [0, 5, 10, 15, 20]],
    [10_000, 20, [0, 10, 20, 30, 40]],
    [10_000, 0, [0, 1, 2, 3, 4]],
    [1_000_000, 39_999, [0, 10_000, 20_000, 30_000, 40_000]],
    [1_000_000, 40_000, [0, 20_000, 40_000, 60_000, 80_000]],
  ])(
    'places the line of limit %i, far above bars up to %i, at the top of a round scale above them',
    (limit, highest, ticks) => {
      const line = placeLimitLine(limit, highest);
      expect(line).toEqual({ y: ticks.at(-1), label: expect.stringMatching(/\(above this scale\)$/), ticks });
      expect(line.y).toBeGreaterThan(highest);
    },
  );
});
