import type { Counts } from './clients/messages.js';
import { type FaultLine, monotonicMs } from './ledger.js';

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
  readonly startMs = monotonicMs();
  private readonly timer: NodeJS.Timeout;

  /** @param faults those that were caused so far. */
  constructor(private readonly faults: FaultLine[]) {
    this.timer = setInterval(() => this.print(), LINE_INTERVAL_MS);
  }

  add(counts: Counts): void {
    const second = Math.floor((monotonicMs() - this.startMs) / 1000);
    let entry = this.seconds.at(-1);
    if (entry?.second !== second) {
      entry = { second, counts: { ...counts } };
      this.seconds.push(entry);
      return;
    }
    for (const name of Object.keys(counts) as (keyof Counts)[]) {
      entry.counts[name] += counts[name];
    }
  }

  get total(): Counts {
    const sum = (name: keyof Counts) => this.seconds.reduce((total, { counts }) => total + counts[name], 0);
    return {
      decisions: sum('decisions'),
      served: sum('served'),
      denied: sum('denied'),
      degraded: sum('degraded'),
      unavailable: sum('unavailable'),
      withoutResponse: sum('withoutResponse'),
    };
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
