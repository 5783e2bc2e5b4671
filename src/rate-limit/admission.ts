import type { Standing } from './ban.js';
import type { WindowState } from './windows.js';

/** The answer to "is there room for this request?", and the numbers that its response tells. */
export interface Admission extends Standing {
  admitted: boolean;
  /** The windows in force, as this request left them. A ban does not change them. */
  windows: readonly WindowState[];
  /** The store's time of the decision, in milliseconds since the Unix epoch. */
  nowMs: number;
}
