import {
  type CounterStore,
  PartialReconcileError,
  type UnreportedUsage,
  wasNotCounted,
} from './counter-store.js';
import type { RateLimitDecision, RateLimitRequest } from '../rules/rate-limit-decision.js';
import { UnreportedUsageLog } from './unreported-usage-log.js';

/** Buckets in one report: few enough for the deadline of the store. */
const REPORT_SIZE = 1000;
const MAX_UNREPORTED_BUCKETS = 50_000;

/**
 * Reports to the shared store what this replica allowed without it, one report at a time. Usage that may have been added is
 * never reported again, so that nothing counts twice.
 */
export class UsageReporter {
  /** Null while nothing is unreported, nor being reported. */
  unreported: UnreportedUsageLog | null = null;
  private reporting: Promise<void> | null = null;

  constructor(private readonly shared: CounterStore) {}

  /** Adds one request that was allowed, to be reported. */
  add(request: RateLimitRequest, decision: RateLimitDecision): void {
    this.unreported ??= new UnreportedUsageLog(MAX_UNREPORTED_BUCKETS);
    this.unreported.add(request, decision);
  }

  /**
   * Reports all usage that was added until now, or joins the report in flight.
   *
   * @throws CounterStoreError when the store is still away.
   */
  report(): Promise<void> {
    const log = this.unreported;
    if (log === null) {
      return Promise.resolve();
    }
    this.reporting ??= this.reportAll(log).finally(() => {
      this.reporting = null;
      if (log.size === 0) {
        this.unreported = null;
      }
    });
    return this.reporting;
  }

  private async reportAll(log: UnreportedUsageLog): Promise<void> {
    // What is allowed meanwhile, and what is left at the end, goes before the next query.
    for (let isMore = log.size > 0; isMore; isMore = log.size >= REPORT_SIZE) {
      const usage = log.next(REPORT_SIZE);
      try {
        await this.shared.reconcile(usage);
      } catch (error) {
        log.restore(notReconciled(usage, error));
        throw error;
      }
    }
  }
}

/** Returns what the store has surely not added of a report that failed. */
function notReconciled(usage: readonly UnreportedUsage[], error: unknown): readonly UnreportedUsage[] {
  if (error instanceof PartialReconcileError) {
    return error.notReconciled;
  }
  return wasNotCounted(error) ? usage : [];
}
