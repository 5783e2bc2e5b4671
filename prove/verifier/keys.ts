import type { Claim } from './claim.js';
import type { Evidence, Request } from './evidence.js';
import { EFFECT_MS, type History, isAcknowledged } from './history.js';

/** No revoked or expired key is served later than a second after its end. */
export function checkKeys({ requests, changes }: Evidence, history: History, claim: Claim): void {
  const ends = new Map<string, number>();
  const end = (key: string, endMs: number) => ends.set(key, Math.min(endMs, ends.get(key) ?? Infinity));
  for (const change of changes) {
    if (change.change === 'revoke' && change.receivedMs !== null && isAcknowledged(change)) {
      end(change.key, change.receivedMs);
    } else if (change.endsAt !== null && change.endsAt !== undefined && isAcknowledged(change)) {
      end(change.key, history.toMonotonicMs(change.endsAt));
    }
  }
  for (const request of requests) {
    const endMs = request.key === null ? undefined : ends.get(request.key);
    if (endMs === undefined || request.sentMs <= endMs) {
      continue;
    }
    if (request.status === null || request.sentMs <= endMs + EFFECT_MS) {
      claim.weaken();
      continue;
    }
    claim.check(
      !isServed(request),
      () =>
        `${request.id} was served ${Math.round(request.sentMs - endMs)} ms after the end of ${request.key}`,
    );
  }
}

/** Whether the key was accepted: a denial by the limit of its quota included, as that has a day. */
function isServed({ status, headers }: Request): boolean {
  return status !== 401 && status !== 503 && !(status === 429 && headers.day === undefined);
}
