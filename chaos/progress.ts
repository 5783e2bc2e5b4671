import { addCounts, type Counts, NO_COUNTS } from './clients/messages.js';
import { monotonicMs } from './ledger.js';
import type { Fault } from './verifier/evidence.js';

/** The counts of all clients in one second. */
export interface Second {
  /** Since the start of the run. */
  second: number;
  counts: Counts;
}

const LINE_INTERVAL_MS = 5000;

/** Adds up what the clients count, and prints a line every few seconds. */
export class Progress {
  readonly seconds: Second[] = [];
  /** The decisions of each version. */
  readonly decisionsOf: Record<string, number> = {};
  readonly startMs = monotonicMs();
  private readonly timer: NodeJS.Timeout;

  /** @param faults those that were caused so far. */
  constructor(private readonly faults: Fault[]) {
    this.timer = setInterval(() => this.print(), LINE_INTERVAL_MS);
  }

  add(counts: Counts, decisionsOf: Record<string, number>): void {
    const second = Math.floor((monotonicMs() - this.startMs) / 1000);
    if (this.seconds.at(-1)?.second !== second) {
      this.seconds.push({ second, counts: { ...NO_COUNTS } });
    }
    addCounts((this.seconds.at(-1) as Second).counts, counts);
    for (const [version, decisions] of Object.entries(decisionsOf)) {
      this.decisionsOf[version] = (this.decisionsOf[version] ?? 0) + decisions;
    }
  }

  get total(): Counts {
    const total = { ...NO_COUNTS };
    this.seconds.forEach(({ counts }) => addCounts(total, counts));
    return total;
  }

  stop(): void {
    clearInterval(this.timer);
  }

  private print(): void {
    const { decisions, denied, degraded, unavailable, withoutResponse } = this.total;
    const minute = ((monotonicMs() - this.startMs) / 60_000).toFixed(1);
    const [last] = this.faults.slice(-1);
    const now = last !== undefined && last.endMs === null ? `, now ${last.fault} of ${last.target}` : '';
    process.stderr.write(
      `minute ${minute}: ${decisions} decisions (${denied} denied, ${degraded} degraded), ` +
        `${unavailable} unavailable, ${withoutResponse} without response, ` +
        `${this.faults.length} faults${now}; violations are counted at the end\n`,
    );
  }
}
