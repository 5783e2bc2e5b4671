/** Random choices that repeat: the same seed and name always give the same sequence (mulberry32). */
export class Random {
  private state: number;

  /** @param name keeps sequences of one seed apart, such as those of two clients. */
  constructor(seed: number, name: string) {
    this.state = Buffer.from(name).reduce((hash, byte) => Math.imul(hash ^ byte, 0x01000193), seed);
  }

  /** Returns a number from 0 up to 1, without 1. */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), this.state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** Returns an integer from `least` to `greatest`, both included. */
  integer(least: number, greatest: number): number {
    return least + Math.floor(this.next() * (greatest - least + 1));
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** @throws Error if the list is empty. */
  pick<T>(list: readonly T[]): T {
    if (list.length === 0) {
      throw new Error('There is nothing to pick from');
    }
    return list[this.integer(0, list.length - 1)] as T;
  }

  /** Picks an item as often as its weight is of the sum of weights. */
  pickWeighted<T extends { weight: number }>(list: readonly T[]): T {
    let left = this.next() * list.reduce((sum, { weight }) => sum + weight, 0);
    return list.find(({ weight }) => (left -= weight) < 0) ?? this.pick(list);
  }

  shuffle<T>(list: readonly T[]): T[] {
    return list
      .map((item) => ({ item, order: this.next() }))
      .toSorted((one, other) => one.order - other.order)
      .map(({ item }) => item);
  }
}
