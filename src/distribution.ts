/** How often values fell between which bounds, and their sum: what a histogram is drawn from. */
export class Distribution {
  /** Of each bound those values that are not above it, but above the one before; last, those above all. */
  readonly counts: number[];
  sum = 0;

  /** @param bounds in ascending order. */
  constructor(readonly bounds: readonly number[]) {
    this.counts = Array.from({ length: bounds.length + 1 }, () => 0);
  }

  add(value: number): void {
    const { bounds } = this;
    let place = 0;
    while (place < bounds.length && value > (bounds[place] as number)) {
      place += 1;
    }
    this.counts[place] = (this.counts[place] as number) + 1;
    this.sum += value;
  }

  get count(): number {
    return this.counts.reduce((sum, count) => sum + count, 0);
  }
}
