import { Distribution } from './distribution.js';

/** From half a millisecond to what a question may take at the most. */
const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];
const SIZES = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000];

/** What a `Batcher` has asked until now. */
export class BatchMetrics {
  readonly seconds = new Distribution(SECONDS);
  /** Asks that one question held. */
  readonly sizes = new Distribution(SIZES);
  /** Asks that were answered with an error. */
  failures = 0;

  constructor(readonly name: string) {}
}
