import type { Claim } from './claim.js';
import type { Change, Evidence, Request } from './evidence.js';
import { groupBy } from './group.js';
import { EFFECT_MS, type History, isAcknowledged, isRejected } from './history.js';

/**
 * No revoked or expired key is served later than a second after its end, and none creates a second after it
 * was restricted.
 */
export function checkKeys(evidence: Evidence, history: History, claim: Claim): void {
  checkEnds(evidence, history, claim);
  checkRestrictions(evidence, claim);
}

function checkEnds({ requests, changes }: Evidence, history: History, claim: Claim): void {
  const ends = new Map<string, number>();
  /** When a key may have been rotated or revoked, though no response said so. */
  const mayEnd = new Map<string, number>();
  for (const change of changes) {
    if (change.change === 'revoke' && change.receivedMs !== null && isAcknowledged(change)) {
      setEarliest(ends, change.key, change.receivedMs);
    } else if (change.endsAt !== null && change.endsAt !== undefined && isAcknowledged(change)) {
      setEarliest(ends, change.key, history.toMonotonicMs(change.endsAt));
    } else if (/^(rotate|revoke)$/.test(change.change) && !isRejected(change)) {
      setEarliest(mayEnd, change.key, change.sentMs);
    }
  }
  for (const request of requests) {
    const { id, sentMs, status } = request;
    const key = request.key ?? '';
    const endMs = ends.get(key);
    if (endMs === undefined) {
      if (sentMs > (mayEnd.get(key) ?? Infinity)) {
        claim.weaken();
      }
    } else if (sentMs > endMs + EFFECT_MS && status !== null) {
      const describe = () => `${id} was served ${Math.round(sentMs - endMs)} ms after the end of ${key}`;
      claim.check(!isServed(request), describe);
    } else if (sentMs > endMs) {
      claim.weaken();
    }
  }
}

function checkRestrictions({ requests, changes }: Evidence, claim: Claim): void {
  const restrictions = groupBy(
    changes.filter((change) => change.change === 'restrict' && !isRejected(change)),
    ({ key }) => key,
  );
  for (const { id, key, method, path, sentMs, receivedMs, status } of requests) {
    const ofKey = restrictions.get(key ?? '') ?? [];
    const inForce = ofKey.findLast(
      (change) => isAcknowledged(change) && (change.receivedMs ?? 0) + EFFECT_MS < sentMs,
    );
    if (inForce === undefined || receivedMs === null || method !== 'POST' || !CREATIONS.has(path)) {
      continue;
    }
    const possible = ofKey.filter((each) => each.sentMs >= inForce.sentMs && each.sentMs < receivedMs);
    if (possible.every(isReadOnly)) {
      claim.check(status !== 201, () => `${id} created, though ${key} may only read since ${inForce.sentMs}`);
    } else if (possible.some(isReadOnly)) {
      claim.weaken();
    }
  }
}

const CREATIONS = new Set(['/v1/pets', '/v1/store/orders']);
const isReadOnly = ({ scopes }: Change) => scopes?.every((scope) => scope.endsWith(':read')) ?? false;

/** Keeps the earliest time of a key. */
function setEarliest(times: Map<string, number>, key: string, timeMs: number): void {
  times.set(key, Math.min(timeMs, times.get(key) ?? Infinity));
}

/** Whether the key was accepted: a denial by the limit of its quota included, as that has a day. */
function isServed({ status, headers }: Request): boolean {
  return status !== 401 && status !== 503 && !(status === 429 && headers.day === undefined);
}
