import type { BanStatus } from './ban.js';
import type { WindowState } from './windows.js';

/** The answer to "is there room for this request?", and the numbers that its response tells. */
export interface RateLimitDecision extends BanStatus {
  allowed: boolean;
  /** The windows in force, as this request left them. A ban does not change them. */
  windows: readonly WindowState[];
  /** The time of the decision by the store's clock, in milliseconds since the Unix epoch. */
  nowMs: number;
  /** What the store's clock showed then: earlier than the decision, where a window is open that begins only later by it. */
  clockMs: number;
  /** Whether this replica answered by itself, from what it last knew, because the store was away. */
  degraded: boolean;
}
