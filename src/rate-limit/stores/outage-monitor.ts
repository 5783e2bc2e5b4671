import type { Logger } from '@nestjs/common';
import { PeriodicTask } from '../../database/periodic-task.js';
import type { Clock } from '../../settings/clock.js';
import { CounterStoreError } from './counter-store.js';

const PROBE_INTERVAL_MS = 500;
const FAILURES_IN_A_ROW = 3;

/** Every state of a breaker. Open, no query is sent. Half-open, the result of the next query closes it or opens it again. */
export const BREAKER_STATES = ['closed', 'open', 'half-open'] as const;
export type BreakerState = (typeof BREAKER_STATES)[number];

/** Since when queries to the shared store have failed, and the last error. */
export interface Outage {
  since: Date;
  error: CounterStoreError;
}

/**
 * Opens the breaker when queries to the shared store fail, and then probes the store twice a second. Once it responds, the breaker is
 * half-open: a store that is out of memory or read-only, or has a locked row, responds and does not count.
 */
export class OutageMonitor {
  /** Changed by the methods alone. */
  breakerState: BreakerState = 'closed';
  /** Null once a request was counted after the last failure. */
  outage: Outage | null = null;
  private failuresInARow = 0;
  /** The queries whose failure is recorded: each of their requests fails with an error of its own. */
  private readonly failedQueries = new WeakSet<object>();
  private prober: PeriodicTask | null = null;

  /** @param probe rejects while the store does not respond. */
  constructor(
    private readonly logger: Logger,
    private readonly clock: Clock,
    private readonly probe: () => Promise<void>,
  ) {}

  /** Records a failed query, once for all its requests, if its failure means that the store is away. */
  failed(failure: unknown): void {
    const error = failure instanceof CounterStoreError ? failure : defect(failure);
    const { kind, message, query } = error;
    if (['notSent', 'wrongType', 'conflict'].includes(kind) || this.failedQueries.has(query)) {
      return;
    }
    this.failedQueries.add(query);
    this.failuresInARow += 1;
    this.outage = { since: this.outage?.since ?? new Date(this.clock.now()), error };
    if (this.breakerState === 'closed') {
      if (kind !== 'noConnection' && this.failuresInARow < FAILURES_IN_A_ROW) {
        this.logger.debug(`A query to the counter store failed: ${message}`);
        return;
      }
      this.logger.warn(`The counter store is away, so this replica counts by itself: ${message}`);
    }
    this.breakerState = 'open';
    this.prober ??= this.startProbing();
  }

  /** Records that a request was counted. While open that changes nothing: its query was sent before. */
  succeeded(): void {
    if (this.breakerState === 'open') {
      return;
    }
    this.failuresInARow = 0;
    this.outage = null;
    if (this.breakerState === 'half-open') {
      this.breakerState = 'closed';
      this.logger.warn('The counter store is back, and has counted what this replica allowed meanwhile');
    }
  }

  stop(): void {
    void this.prober?.stop();
  }

  private startProbing(): PeriodicTask {
    const prober = new PeriodicTask(
      PROBE_INTERVAL_MS,
      async () => {
        await this.probe();
        void prober.stop();
        this.prober = null;
        this.breakerState = 'half-open';
        return false;
      },
      (error) => this.failed(error),
    );
    prober.start();
    return prober;
  }
}

/** A fault in the code of the store leaves open what was counted. */
function defect(fault: unknown): CounterStoreError {
  const error = new CounterStoreError('outcomeUnknown', fault);
  error.query = Object(fault);
  return error;
}
