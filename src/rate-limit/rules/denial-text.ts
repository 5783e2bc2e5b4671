import type { RateLimitDecision } from './rate-limit-decision.js';
import { retryAfterSeconds } from './windows.js';

export function exceededMessage(
  allowance: string,
  { windows, nowMs }: Pick<RateLimitDecision, 'windows' | 'nowMs'>,
): string {
  const wait = inWords(retryAfterSeconds(windows, nowMs), 'second');
  return `Rate limit exceeded: ${allowance}. Wait ${wait} before the next request.`;
}

export function inWords(count: number, unit: string): string {
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}
