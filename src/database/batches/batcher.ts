import { tracingChannel } from 'node:diagnostics_channel';
import { Histogram } from 'prom-client';
import type { BatchMetrics } from '../../process/metrics-registry.js';
import { loadApart } from './load-apart.js';
import {
  isRequestDeadline,
  lastStartMs,
  requestDeadlineError,
  withLastStart,
} from '../access/request-deadline.js';

/** The diagnostics channel of all loads, each from its arrival to its result. */
export const LOADS = 'animal-store.load';

/** What the channel publishes of a load. */
export interface LoadNotice {
  /** The batcher's. */
  name: string;
  /** The size of the batch that the item was in; undefined while it is queued. */
  batchSize?: number;
}

/** From half a millisecond to the longest time of a batch. */
const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];
const SIZES = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000];

interface Queued<Item, Result> {
  item: Item;
  notice: LoadNotice;
  sinceMs: number;
  /** When a statement for it may start at the latest, by the monotonic clock. */
  lastStartMs: number;
  resolve: (result: Result) => void;
  reject: (reason: unknown) => void;
}

interface Options {
  /** The name in metrics and traces. */
  name: string;
  /** The maximum size of a batch; the rest of the queue waits for the next. */
  maxBatch?: number;
  /**
   * The maximum number of batches in flight. Another starts only beside slow ones, so that a slow batch
   * delays only its own items.
   */
  maxInFlight?: () => number;
  /** What registers its batches, and says their maximum in flight instead of `maxInFlight`. */
  client?: BatchClient;
}

/** What shows the metrics of batches, and says how many of them may be in flight. */
interface BatchClient {
  registerBatches(batches: BatchMetrics): () => number;
}

/** A batch in flight for longer is slow. */
const SLOW_MS = 20;
/** An item queued for longer when a batch fails is rejected with it. */
const MAX_QUEUED_MS = 1000;

const loads = tracingChannel<unknown, LoadNotice>(LOADS);

/**
 * Loads queued items together. Items that arrive while a batch is in flight are the next batch. A batch
 * starts at the end of the turn of the event loop in which its first item arrived: so no result is older than
 * its request, no item waits on purpose, and the cost of each falls as load grows.
 */
export class Batcher<Item, Result> {
  readonly metrics: BatchMetrics;
  private queue: Queued<Item, Result>[] = [];
  private inFlight = 0;
  private slow = 0;
  private isStarting = false;
  private readonly maxBatch: number;
  private readonly maxInFlight: () => number;

  /**
   * @param loadAll returns the result, or the error, of each item, in their order. When it rejects because of
   *   a value, and so changed nothing, the items are loaded apart (`loadApart`), so that no item makes
   *   another fail. It runs within the earliest deadline of its items: when it rejects because that is over,
   *   the items with time left are loaded again. When it rejects for another reason, so is every item of the
   *   batch, and every item that was queued for long.
   */
  constructor(
    private readonly loadAll: (items: Item[]) => Promise<(Result | Error)[]>,
    { name, maxBatch = 1000, maxInFlight = () => 1, client }: Options,
  ) {
    this.metrics = {
      name,
      seconds: new Histogram({ name: 'seconds', help: name, buckets: SECONDS, registers: [] }),
      sizes: new Histogram({ name: 'sizes', help: name, buckets: SIZES, registers: [] }),
      failures: 0,
    };
    this.maxBatch = maxBatch;
    this.maxInFlight = client?.registerBatches(this.metrics) ?? maxInFlight;
  }

  load(item: Item): Promise<Result> {
    const notice: LoadNotice = { name: this.metrics.name };
    return loads.hasSubscribers
      ? loads.tracePromise(() => this.enqueue(item, notice), notice)
      : this.enqueue(item, notice);
  }

  /** Rejects all queued items; those in flight are not affected. */
  rejectQueued(reason: unknown): void {
    this.reject(this.queue.splice(0), reason);
  }

  private enqueue(item: Item, notice: LoadNotice): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.queue.push({
        item,
        notice,
        sinceMs: performance.now(),
        lastStartMs: lastStartMs(),
        resolve,
        reject,
      });
      this.startSoon();
    });
  }

  private reject(rejected: Queued<Item, Result>[], reason: unknown): void {
    this.metrics.failures += rejected.length;
    rejected.forEach(({ reject }) => reject(reason));
  }

  /** Rejects the items whose request has no time left, and returns the others. */
  private rejectOverdue(queued: Queued<Item, Result>[]): Queued<Item, Result>[] {
    const nowMs = performance.now();
    const isOverdue = (one: Queued<Item, Result>) => one.lastStartMs <= nowMs;
    if (!queued.some(isOverdue)) {
      return queued;
    }
    this.reject(queued.filter(isOverdue), requestDeadlineError());
    return queued.filter((one) => !isOverdue(one));
  }

  /** An item then waits for one failure at most, and the queue stays short while every batch fails. */
  private rejectLongQueued(reason: unknown): void {
    const sinceMs = performance.now() - MAX_QUEUED_MS;
    const staying = this.queue.findIndex((queued) => queued.sinceMs > sinceMs);
    this.reject(this.queue.splice(0, staying === -1 ? this.queue.length : staying), reason);
  }

  private startSoon(): void {
    if (!this.isStarting && this.mayStart()) {
      this.isStarting = true;
      setImmediate(() => {
        this.isStarting = false;
        // Queued items are rejected with a batch that fails meanwhile.
        this.queue = this.rejectOverdue(this.queue);
        if (this.queue.length > 0) {
          void this.start();
        }
      });
    }
  }

  private mayStart(): boolean {
    return this.queue.length > 0 && this.inFlight === this.slow && this.inFlight < this.maxInFlight();
  }

  private async start(): Promise<void> {
    const batch = this.queue.splice(0, this.maxBatch);
    batch.forEach(({ notice }) => (notice.batchSize = batch.length));
    this.inFlight += 1;
    let isSlow = false;
    const becomeSlow = () => {
      isSlow = true;
      this.slow += 1;
      this.startSoon();
    };
    const startMs = performance.now();
    const timer = this.maxInFlight() > 1 ? setTimeout(becomeSlow, SLOW_MS) : undefined;
    try {
      await loadApart(batch, {
        load: (part) => this.loadPart(part),
        settle: (part, results) => this.settle(part, results),
        fail: (part, reason) => this.fail(part, reason),
      });
    } catch (reason) {
      if (!isRequestDeadline(reason)) {
        this.rejectLongQueued(reason);
      }
    }
    this.metrics.seconds.observe((performance.now() - startMs) / 1000);
    this.metrics.sizes.observe(batch.length);
    clearTimeout(timer);
    this.inFlight -= 1;
    this.slow -= Number(isSlow);
    this.startSoon();
  }

  private async loadPart(part: Queued<Item, Result>[]): Promise<(Result | Error)[]> {
    const load = () => this.loadAll(part.map(({ item }) => item));
    // Otherwise the deadline would be that of whichever request caused this turn of the event loop.
    const results = await withLastStart(Math.min(...part.map((queued) => queued.lastStartMs)), load);
    if (results.length !== part.length) {
      throw new Error(`${part.length} items have ${results.length} results`);
    }
    return results;
  }

  private fail(part: Queued<Item, Result>[], reason: unknown): void {
    if (isRequestDeadline(reason)) {
      // No statement started in time for the oldest request: the others may have time left.
      this.queue.unshift(...this.rejectOverdue(part));
    } else {
      this.reject(part, reason);
    }
  }

  private settle(part: Queued<Item, Result>[], results: (Result | Error)[]): void {
    part.forEach(({ resolve, reject }, index) => {
      const result = results[index] as Result | Error;
      if (result instanceof Error) {
        this.metrics.failures += 1;
        reject(result);
      } else {
        resolve(result);
      }
    });
  }
}
