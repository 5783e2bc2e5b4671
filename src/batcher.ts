interface Waiting<Ask, Answer> {
  ask: Ask;
  resolve: (answer: Answer) => void;
  reject: (reason: unknown) => void;
}

/**
 * Asks once for all who wait. While one question is under way, those that arrive are gathered, and go
 * together as the next question when it returns. Every question starts after its asks arrived, so no
 * answer is stale; a lonely ask goes at once; and the cost of each falls as load grows.
 */
export class Batcher<Ask, Answer> {
  private waiting: Waiting<Ask, Answer>[] = [];
  private underWay = false;

  /**
   * @param answerAll answers a batch: one answer for each ask, in the order of the asks. When it rejects,
   *   every ask of that batch is rejected with its reason.
   * @param maxBatch how many asks one question holds at the most; the rest wait for the next, first come first.
   */
  constructor(
    private readonly answerAll: (asks: Ask[]) => Promise<Answer[]>,
    private readonly maxBatch = 1000,
  ) {}

  ask(ask: Ask): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ ask, resolve, reject });
      if (!this.underWay) {
        void this.run();
      }
    });
  }

  /** Rejects all who wait and whose question was not asked yet. The question under way goes on. */
  dismiss(reason: unknown): void {
    this.waiting.splice(0).forEach(({ reject }) => reject(reason));
  }

  private async run(): Promise<void> {
    this.underWay = true;
    while (this.waiting.length > 0) {
      const batch = this.waiting.splice(0, this.maxBatch);
      try {
        const answers = await this.answerAll(batch.map(({ ask }) => ask));
        if (answers.length !== batch.length) {
          throw new Error(`Asked ${batch.length}, answered ${answers.length}`);
        }
        batch.forEach(({ resolve }, index) => resolve(answers[index] as Answer));
      } catch (reason) {
        batch.forEach(({ reject }) => reject(reason));
      }
    }
    this.underWay = false;
  }
}
