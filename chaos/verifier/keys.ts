import type { Claim } from './claim.js';
import type { Change, Evidence, Request } from './evidence.js';
import { groupBy } from './group.js';
import { DRIFT_MS, EFFECT_MS, type History, isAcknowledged, isRejected, isUndecided } from './history.js';

/**
 * No revoked or expired key is served later than a second after its end, and none writes a second after it
 * was restricted to reads; a valid key is not rejected, and an invalid key is not served.
 *
 * @returns the requests that must have had no effect, though no response says so.
 */
export function checkKeys(evidence: Evidence, history: History, claim: Claim): Set<Request> {
  checkCredentials(evidence, history, claim);
  const forbidden = [...checkEnds(evidence, history, claim), ...checkRestrictions(evidence, claim)];
  return new Set(forbidden.filter(({ status }) => status === null || status >= 500));
}

/** Neither a request without a key nor one with an unknown key is served; a request with a valid key is. */
function checkCredentials({ requests, changes }: Evidence, history: History, claim: Claim): void {
  const validFrom = new Map<string, number>();
  const validTo = new Map<string, number>();
  for (const change of changes) {
    if (/^(issue|addKey)$/.test(change.change) && isAcknowledged(change)) {
      setEarliest(validFrom, change.key, (change.receivedMs ?? 0) + EFFECT_MS);
    }
    if (/^(rotate|revoke)$/.test(change.change) && !isRejected(change)) {
      setEarliest(validTo, change.key, change.sentMs);
    } else if (typeof change.endsAt === 'string') {
      setEarliest(validTo, change.key, history.toMonotonicMs(change.endsAt) - DRIFT_MS);
    }
  }
  for (const request of requests.filter(({ status }) => status !== null)) {
    const { id, key, quota, sentMs, receivedMs, status } = request;
    if (quota === null) {
      claim.check(!isServed(request), () => `${id} was served without a valid key`);
    } else if (
      sentMs > (validFrom.get(key ?? '') ?? Infinity) &&
      (receivedMs ?? Infinity) < (validTo.get(key ?? '') ?? Infinity)
    ) {
      claim.check(
        isUndecided(request) || isServed(request),
        () => `${id} got ${status}, though ${key} is valid`,
      );
    }
  }
}

/** Returns the requests that came too late. */
function checkEnds({ requests, changes }: Evidence, history: History, claim: Claim): Request[] {
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
  const late: Request[] = [];
  for (const request of requests) {
    const { id, sentMs, status } = request;
    const key = request.key ?? '';
    const endMs = ends.get(key);
    if (endMs === undefined) {
      if (sentMs > (mayEnd.get(key) ?? Infinity)) {
        claim.weaken();
      }
    } else if (sentMs > endMs + EFFECT_MS) {
      late.push(request);
      const describe = () => `${id} was served ${Math.round(sentMs - endMs)} ms after the end of ${key}`;
      claim.check(status === null || !isServed(request), describe);
    } else if (sentMs > endMs) {
      claim.weaken();
    }
  }
  return late;
}

/** Returns the writes of keys that could surely only read. */
function checkRestrictions({ requests, changes }: Evidence, claim: Claim): Request[] {
  const restrictions = groupBy(
    changes.filter((change) => change.change === 'restrict' && !isRejected(change)),
    ({ key }) => key,
  );
  const forbidden: Request[] = [];
  for (const request of requests.filter(({ method, path }) => method === 'POST' && WRITES.test(path))) {
    const { id, key, sentMs, receivedMs, status } = request;
    const ofKey = restrictions.get(key ?? '') ?? [];
    const inForce = ofKey.findLast(
      (change) => isAcknowledged(change) && (change.receivedMs ?? 0) + EFFECT_MS < sentMs,
    );
    if (inForce === undefined) {
      continue;
    }
    const decidedMs = receivedMs ?? Infinity;
    const possible = ofKey.filter((each) => each.sentMs >= inForce.sentMs && each.sentMs < decidedMs);
    if (possible.every(isReadOnly)) {
      forbidden.push(request);
      claim.check(
        status === null || status >= 400,
        () => `${id} got ${status}, though ${key} may only read since ${inForce.sentMs}`,
      );
    } else if (possible.some(isReadOnly)) {
      claim.weaken();
    }
  }
  return forbidden;
}

const WRITES = /^\/v1\/(pets|store\/orders|keys)\b/;
const isReadOnly = ({ scopes }: Change) => scopes?.every((scope) => scope.endsWith(':read')) ?? false;

/** Keeps the earliest time of a key. */
function setEarliest(times: Map<string, number>, key: string, timeMs: number): void {
  times.set(key, Math.min(timeMs, times.get(key) ?? Infinity));
}

/** Whether the key was accepted: a denial by the limit of its quota included, as that has a day. */
function isServed(request: Request): boolean {
  const { status, headers } = request;
  return status !== 401 && !isUndecided(request) && !(status === 429 && headers.day === undefined);
}
