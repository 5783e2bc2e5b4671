import type { Claim } from './claim.js';
import type { Evidence, Request } from './evidence.js';
import { EFFECT_MS, type History, isAcknowledged } from './history.js';

/** No revoked or expired key is served later than a second after its end. */
export function checkKeys({ requests, changes }: Evidence, history: History, claim: Claim): void {
  const ends = new Map<string, { endMs: number; isRevoked: boolean }>();
  const end = (key: string, endMs: number, isRevoked: boolean) => {
    if (endMs < (ends.get(key)?.endMs ?? Infinity)) {
      ends.set(key, { endMs, isRevoked });
    }
  };
  for (const change of changes) {
    if (change.change === 'revoke' && change.receivedMs !== null && isAcknowledged(change)) {
      end(change.key, change.receivedMs, true);
    } else if (change.endsAt !== null && change.endsAt !== undefined && isAcknowledged(change)) {
      end(change.key, history.toMonotonicMs(change.endsAt), false);
    }
  }
  for (const request of requests) {
    const known = request.key === null ? undefined : ends.get(request.key);
    if (known === undefined || request.sentMs <= known.endMs) {
      continue;
    }
    // A replica judges the expiry by its own clock.
    const isUnknown =
      request.status === null || (!known.isRevoked && history.isSkewed(request.replica, request.sentMs));
    if (isUnknown || request.sentMs <= known.endMs + EFFECT_MS) {
      claim.weaken();
      continue;
    }
    claim.check(
      !isServed(request),
      () =>
        `${request.id} was served ${Math.round(request.sentMs - known.endMs)} ms after the end of ${request.key}`,
    );
  }
}

/** Whether the key was accepted: a denial by the limit of its quota included, as that has a day. */
function isServed({ status, headers }: Request): boolean {
  return status !== 401 && status !== 503 && !(status === 429 && headers.day === undefined);
}
