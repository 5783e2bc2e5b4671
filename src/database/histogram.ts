/** Counts values by bucket, as a Prometheus histogram does. */
export class Histogram {
  /** The number of values up to each bound and above the previous one; the last is the number above all bounds. */
  readonly counts: number[];
  sum = 0;

  /** @param bounds in ascending order. */
  constructor(readonly bounds: readonly number[]) {
    this.counts = Array.from({ length: bounds.length + 1 }, () => 0);
  }

  observe(value: number): void {
    const { bounds, counts } = this;
    let bucket = 0;
    while (bucket < bounds.length && value > (bounds[bucket] as number)) {
      bucket += 1;
    }
    counts[bucket] = (counts[bucket] as number) + 1;
    this.sum += value;
  }

  get count(): number {
    return this.counts.reduce((sum, count) => sum + count, 0);
  }
}
