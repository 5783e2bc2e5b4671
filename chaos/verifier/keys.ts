import type { Claim } from './claim.js';
import type { Change, Evidence, Request } from './evidence.js';
import { groupBy } from './group.js';
import { DRIFT_MS, EFFECT_MS, type History, isAcknowledged, isRejected, isUndecided } from './history.js';

/**
 * No revoked, expired or suspended key is served later than a second after that, and none writes a second
 * after it was restricted to reads; a valid key is not rejected, a resumed one from a second after that, and
 * an invalid key is not served.
 *
 * @returns the requests that must have had no effect, though no response says so.
 */
export function checkKeys(evidence: Evidence, history: History, claim: Claim): Set<Request> {
  const suspensions = new Changes(evidence, ['suspend', 'resume']);
  checkCredentials(evidence, history, claim, suspensions);
  const forbidden = [
    ...checkEnds(evidence, history, claim),
    ...checkSuspensions(evidence, claim, suspensions),
    ...checkRestrictions(evidence, claim),
  ];
  return new Set(forbidden.filter(({ status }) => status === null || status >= 500));
}

/** Neither a request without a key nor one with an unknown key is served; a request with a valid key is. */
function checkCredentials(
  { requests, changes }: Evidence,
  history: History,
  claim: Claim,
  suspensions: Changes,
): void {
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
      (receivedMs ?? Infinity) < (validTo.get(key ?? '') ?? Infinity) &&
      suspensions.possibleAt(request).every(({ change }) => change === 'resume')
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

/** Returns the requests with keys that were surely suspended. */
function checkSuspensions({ requests }: Evidence, claim: Claim, suspensions: Changes): Request[] {
  const forbidden: Request[] = [];
  for (const request of requests) {
    const { id, key, status } = request;
    const inForce = suspensions.findInForce(request);
    const possible = suspensions.possibleAt(request);
    if (inForce !== undefined && possible.every(({ change }) => change === 'suspend')) {
      forbidden.push(request);
      claim.check(
        status === null || !isServed(request),
        () => `${id} was served, though ${key} is suspended since ${inForce.sentMs}`,
      );
    } else if (possible.some(({ change }) => change === 'suspend')) {
      claim.weaken();
    }
  }
  return forbidden;
}

/** Returns the writes of keys that could surely only read. */
function checkRestrictions(evidence: Evidence, claim: Claim): Request[] {
  const restrictions = new Changes(evidence, ['restrict']);
  const forbidden: Request[] = [];
  const writes = evidence.requests.filter(({ method, path }) => method === 'POST' && WRITES.test(path));
  for (const request of writes) {
    const { id, key, status } = request;
    const inForce = restrictions.findInForce(request);
    if (inForce === undefined) {
      continue;
    }
    const possible = restrictions.possibleAt(request);
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

/** Changes that replace each other, of each key in their order. */
class Changes {
  private readonly byKey: Map<string, Change[]>;

  constructor({ changes }: Evidence, kinds: Change['change'][]) {
    this.byKey = groupBy(
      changes.filter((change) => kinds.includes(change.change) && !isRejected(change)),
      ({ key }) => key,
    );
  }

  /** Returns the last change of its key that was in force on every replica when a request was sent. */
  findInForce({ key, sentMs }: Request): Change | undefined {
    return this.of(key).findLast(
      (change) => isAcknowledged(change) && (change.receivedMs ?? 0) + EFFECT_MS < sentMs,
    );
  }

  /** Returns the changes any of which may have been in force when a request was decided. */
  possibleAt(request: Request): Change[] {
    const fromMs = this.findInForce(request)?.sentMs ?? -Infinity;
    const decidedMs = request.receivedMs ?? Infinity;
    return this.of(request.key).filter(({ sentMs }) => sentMs >= fromMs && sentMs < decidedMs);
  }

  private of(key: string | null): Change[] {
    return this.byKey.get(key ?? '') ?? [];
  }
}

/** Keeps the earliest time of a key. */
function setEarliest(times: Map<string, number>, key: string, timeMs: number): void {
  times.set(key, Math.min(timeMs, times.get(key) ?? Infinity));
}

/** Whether the key was accepted: a denial by the limit of its quota included, as that has a day. */
function isServed(request: Request): boolean {
  const { status, headers } = request;
  return status !== 401 && !isUndecided(request) && !(status === 429 && headers.day === undefined);
}
