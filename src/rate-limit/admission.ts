import type { WindowState } from './windows.js';

/** The answer to "is there room for this request?", and the numbers that its response tells. */
export interface Admission {
  admitted: boolean;
  /** The windows in force, as this request left them. */
  windows: readonly WindowState[];
  /** The store's time of the decision, in milliseconds since the Unix epoch. */
  nowMs: number;
}
