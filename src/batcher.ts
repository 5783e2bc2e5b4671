import { tracingChannel } from 'node:diagnostics_channel';
import { BatchMetrics } from './batch-metrics.js';

/** Tells who listens of every ask, from its arrival to its answer. */
export const LOADS = 'animal-store.ask';

/** What is told of an ask. */
export interface LoadNotice {
  /** The batcher's. */
  name: string;
  /** How many asks the question held that this one went with; undefined while it waits. */
  batchSize?: number;
}

interface Queued<Ask, Answer> {
  ask: Ask;
  notice: LoadNotice | null;
  sinceMs: number;
  resolve: (answer: Answer) => void;
  reject: (reason: unknown) => void;
}

/** Stands in the place of an answer where one ask failed, and not those beside it. */
export class BatchItemError {
  constructor(readonly reason: unknown) {}
}

interface Options {
  /** What it asks for, in metrics and traces. */
  name: string;
  /** How many asks one question holds at the most; the rest wait for the next, first come first. */
  maxBatch?: number;
  /**
   * How many questions may be under way at the most. Another goes beside those only that are slow, so that one slow answer
   * holds up nobody else.
   */
  maxInFlight?: number;
}

/** A question that is under way for longer is slow. */
const SLOW_MS = 20;
/** Who has waited for longer when a question fails does not wait for another. */
const PATIENCE_MS = 1000;

const loads = tracingChannel<unknown, LoadNotice>(LOADS);

/**
 * Asks once for all who wait. While a question is under way, those that arrive are gathered, and go together as the next
 * question when it returns. A question starts in the turn of the event loop in which its first ask arrived, behind all
 * else that arrived in it: so no answer is stale, nobody waits on purpose, and the cost of each falls as load grows.
 */
export class Batcher<Item, Result> {
  readonly metrics: BatchMetrics;
  private queue: Queued<Item, Result>[] = [];
  private inFlight = 0;
  private slow = 0;
  private isStarting = false;
  private readonly maxBatch: number;
  private readonly maxInFlight: number;

  /**
   * @param loadAll answers a batch: one answer for each ask, or why there is none, in the order of the asks. When it
   *   rejects, every ask of that batch is rejected with its reason, and so is who has waited long behind it.
   */
  constructor(
    private readonly loadAll: (asks: Item[]) => Promise<(Result | BatchItemError)[]>,
    { name, maxBatch = 1000, maxInFlight = 1 }: Options,
  ) {
    this.metrics = new BatchMetrics(name);
    this.maxBatch = maxBatch;
    this.maxInFlight = maxInFlight;
  }

  load(ask: Item): Promise<Result> {
    if (!loads.hasSubscribers) {
      return this.enqueue(ask, null);
    }
    const notice: LoadNotice = { name: this.metrics.name };
    return loads.tracePromise(() => this.enqueue(ask, notice), notice);
  }

  /** Rejects all who wait and whose question was not asked yet. The question under way goes on. */
  rejectQueued(reason: unknown): void {
    this.reject(this.queue.splice(0), reason);
  }

  private enqueue(ask: Item, notice: LoadNotice | null): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.queue.push({ ask, notice, sinceMs: performance.now(), resolve, reject });
      this.startSoon();
    });
  }

  private reject(waiting: Queued<Item, Result>[], reason: unknown): void {
    this.metrics.failures += waiting.length;
    waiting.forEach(({ reject }) => reject(reason));
  }

  /** So that nobody waits for one failure after another, nor ever more of them, while nothing is answered. */
  private rejectLongQueued(reason: unknown): void {
    const sinceMs = performance.now() - PATIENCE_MS;
    const staying = this.queue.findIndex((waiting) => waiting.sinceMs > sinceMs);
    this.reject(this.queue.splice(0, staying === -1 ? this.queue.length : staying), reason);
  }

  private startSoon(): void {
    if (!this.isStarting && this.mayStart()) {
      this.isStarting = true;
      setImmediate(() => {
        this.isStarting = false;
        if (this.queue.length > 0) {
          void this.start();
        }
      });
    }
  }

  private mayStart(): boolean {
    return this.queue.length > 0 && this.inFlight === this.slow && this.inFlight < this.maxInFlight;
  }

  private async start(): Promise<void> {
    const batch = this.queue.splice(0, this.maxBatch);
    this.inFlight += 1;
    let isSlow = false;
    const becomeSlow = () => {
      isSlow = true;
      this.slow += 1;
      this.startSoon();
    };
    const startMs = performance.now();
    const patience = this.maxInFlight > 1 ? setTimeout(becomeSlow, SLOW_MS) : undefined;
    try {
      const answers = await this.loadAll(
        batch.map(({ ask, notice }) => {
          if (notice !== null) {
            notice.batchSize = batch.length;
          }
          return ask;
        }),
      );
      if (answers.length !== batch.length) {
        throw new Error(`Asked ${batch.length}, answered ${answers.length}`);
      }
      batch.forEach(({ resolve, reject }, index) => {
        const answer = answers[index] as Result | BatchItemError;
        if (answer instanceof BatchItemError) {
          this.metrics.failures += 1;
          reject(answer.reason);
        } else {
          resolve(answer);
        }
      });
    } catch (reason) {
      this.reject(batch, reason);
      this.rejectLongQueued(reason);
    }
    this.metrics.seconds.add((performance.now() - startMs) / 1000);
    this.metrics.sizes.add(batch.length);
    clearTimeout(patience);
    this.inFlight -= 1;
    this.slow -= Number(isSlow);
    this.startSoon();
  }
}
