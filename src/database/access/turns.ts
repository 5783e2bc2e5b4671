type Start = (end: () => void) => void;

/** Gives turns: one at a time to each owner, and `max` at a time in all. Owners who wait take turns. */
export class Turns {
  private readonly busy = new Set<unknown>();
  /** What each owner waits to start, the next owner first. */
  private readonly waiting = new Map<unknown, Start[]>();

  constructor(private readonly max: number) {}

  get waitingCount(): number {
    return [...this.waiting.values()].reduce((sum, { length }) => sum + length, 0);
  }

  /**
   * Calls `start` once it is the owner's turn, with what ends the turn. Returns what gives up waiting for it.
   *
   * @param owner by default a new one.
   */
  take(start: Start, owner: unknown = Symbol('owner')): () => void {
    this.setWaiting(owner, [...this.findWaiting(owner), start]);
    this.startNext();
    return () =>
      this.setWaiting(
        owner,
        this.findWaiting(owner).filter((other) => other !== start),
      );
  }

  private startNext(): void {
    const owner = [...this.waiting.keys()].find((each) => !this.busy.has(each));
    const [start, ...others] = this.findWaiting(owner);
    if (start === undefined || this.busy.size >= this.max) {
      return;
    }
    this.busy.add(owner);
    // The owner's next turn comes after those of the others.
    this.waiting.delete(owner);
    this.setWaiting(owner, others);
    start(() => {
      this.busy.delete(owner);
      this.startNext();
    });
  }

  private findWaiting(owner: unknown): Start[] {
    return this.waiting.get(owner) ?? [];
  }

  private setWaiting(owner: unknown, starts: Start[]): void {
    if (starts.length > 0) {
      this.waiting.set(owner, starts);
    } else {
      this.waiting.delete(owner);
    }
  }
}
