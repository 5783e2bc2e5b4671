/** Does work from time to time: one bout after the other, each for as long as there is more to do. */
export class PeriodicTask {
  private timer: NodeJS.Timeout | undefined;
  private ended = false;
  private underWay: Promise<void> | null = null;

  /**
   * @param work does a part, and tells whether there is more.
   * @param failed is told why a bout ended early, but for one that was to end.
   */
  constructor(
    private readonly intervalMs: number,
    private readonly work: () => Promise<boolean>,
    private readonly failed: (error: unknown) => void,
  ) {}

  start(): void {
    this.timer = setInterval(() => {
      this.underWay ??= this.bout().finally(() => {
        this.underWay = null;
      });
    }, this.intervalMs).unref();
  }

  /** Settles when nothing is under way any more: a statement after Prisma is disconnected would connect it again. */
  async stop(): Promise<void> {
    clearInterval(this.timer);
    this.ended = true;
    await this.underWay;
  }

  private async bout(): Promise<void> {
    try {
      let more = true;
      while (more && !this.ended) {
        more = await this.work();
      }
    } catch (error) {
      if (!this.ended) {
        this.failed(error);
      }
    }
  }
}
