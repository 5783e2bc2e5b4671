import { tracingChannel } from 'node:diagnostics_channel';
import { Questions } from './questions.js';

/** Tells who listens of every ask, from its arrival to its answer. */
export const ASKS = 'animal-store.ask';

/** What is told of an ask. */
export interface AskNotice {
  /** The batcher's. */
  name: string;
  /** How many asks the question held that this one went with; undefined while it waits. */
  batchSize?: number;
}

interface Waiting<Ask, Answer> {
  ask: Ask;
  notice: AskNotice | null;
  sinceMs: number;
  resolve: (answer: Answer) => void;
  reject: (reason: unknown) => void;
}

/** Stands in the place of an answer where one ask failed, and not those beside it. */
export class FailedAsk {
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
  maxUnderWay?: number;
}

/** A question that is under way for longer is slow. */
const SLOW_MS = 20;
/** Who has waited for longer when a question fails does not wait for another. */
const PATIENCE_MS = 1000;

const asks = tracingChannel<unknown, AskNotice>(ASKS);

/**
 * Asks once for all who wait. While a question is under way, those that arrive are gathered, and go together as the next
 * question when it returns. A question starts in the turn of the event loop in which its first ask arrived, behind all
 * else that arrived in it: so no answer is stale, nobody waits on purpose, and the cost of each falls as load grows.
 */
export class Batcher<Ask, Answer> {
  readonly questions: Questions;
  private waiting: Waiting<Ask, Answer>[] = [];
  private underWay = 0;
  private slow = 0;
  private isStarting = false;
  private readonly maxBatch: number;
  private readonly maxUnderWay: number;

  /**
   * @param answerAll answers a batch: one answer for each ask, or why there is none, in the order of the asks. When it
   *   rejects, every ask of that batch is rejected with its reason, and so is who has waited long behind it.
   */
  constructor(
    private readonly answerAll: (asks: Ask[]) => Promise<(Answer | FailedAsk)[]>,
    { name, maxBatch = 1000, maxUnderWay = 1 }: Options,
  ) {
    this.questions = new Questions(name);
    this.maxBatch = maxBatch;
    this.maxUnderWay = maxUnderWay;
  }

  ask(ask: Ask): Promise<Answer> {
    if (!asks.hasSubscribers) {
      return this.wait(ask, null);
    }
    const notice: AskNotice = { name: this.questions.name };
    return asks.tracePromise(() => this.wait(ask, notice), notice);
  }

  /** Rejects all who wait and whose question was not asked yet. The question under way goes on. */
  dismiss(reason: unknown): void {
    this.reject(this.waiting.splice(0), reason);
  }

  private wait(ask: Ask, notice: AskNotice | null): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ ask, notice, sinceMs: performance.now(), resolve, reject });
      this.startSoon();
    });
  }

  private reject(waiting: Waiting<Ask, Answer>[], reason: unknown): void {
    this.questions.failedAsks += waiting.length;
    waiting.forEach(({ reject }) => reject(reason));
  }

  /** So that nobody waits for one failure after another, nor ever more of them, while nothing is answered. */
  private dismissLongWaiting(reason: unknown): void {
    const sinceMs = performance.now() - PATIENCE_MS;
    const staying = this.waiting.findIndex((waiting) => waiting.sinceMs > sinceMs);
    this.reject(this.waiting.splice(0, staying === -1 ? this.waiting.length : staying), reason);
  }

  private startSoon(): void {
    if (!this.isStarting && this.mayStart()) {
      this.isStarting = true;
      setImmediate(() => {
        this.isStarting = false;
        if (this.waiting.length > 0) {
          void this.start();
        }
      });
    }
  }

  private mayStart(): boolean {
    return this.waiting.length > 0 && this.underWay === this.slow && this.underWay < this.maxUnderWay;
  }

  private async start(): Promise<void> {
    const batch = this.waiting.splice(0, this.maxBatch);
    this.underWay += 1;
    let isSlow = false;
    const becomeSlow = () => {
      isSlow = true;
      this.slow += 1;
      this.startSoon();
    };
    const startMs = performance.now();
    const patience = this.maxUnderWay > 1 ? setTimeout(becomeSlow, SLOW_MS) : undefined;
    try {
      const answers = await this.answerAll(
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
        const answer = answers[index] as Answer | FailedAsk;
        if (answer instanceof FailedAsk) {
          this.questions.failedAsks += 1;
          reject(answer.reason);
        } else {
          resolve(answer);
        }
      });
    } catch (reason) {
      this.reject(batch, reason);
      this.dismissLongWaiting(reason);
    }
    this.questions.seconds.add((performance.now() - startMs) / 1000);
    this.questions.sizes.add(batch.length);
    clearTimeout(patience);
    this.underWay -= 1;
    this.slow -= Number(isSlow);
    this.startSoon();
  }
}
