/** The violations of a claim that are described; the others are only counted. */
const DESCRIBED = 20;

/** A claim, how often it was checked, and what was found. */
export class Claim {
  checked = 0;
  /** The checks that something unknown made weaker, or impossible. */
  weakened = 0;
  broken = 0;
  readonly violations: string[] = [];

  constructor(
    readonly letter: string,
    readonly text: string,
  ) {}

  /** @param describe returns the violation, with the lines that show it. */
  check(holds: boolean, describe: () => string): void {
    this.checked += 1;
    if (!holds) {
      this.broken += 1;
      if (this.violations.length < DESCRIBED) {
        this.violations.push(describe());
      }
    }
  }

  weaken(): void {
    this.weakened += 1;
  }
}
