import type { Claim } from './claim.js';
import type { Evidence, Fault, Request } from './evidence.js';
import { DRIFT_MS, type History } from './history.js';

/**
 * What is kept of a failed request is what its client got, once, with a time between sending and response;
 * nothing is kept of a request that succeeded. A request without a row is none of these: of a flood some are
 * only counted, and a killed replica loses its last second.
 */
export function checkFailedRequests(evidence: Evidence, history: History, claim: Claim): void {
  const { failedRequests } = evidence;
  const requests = new Map<string, Request>();
  const ids = new Set(failedRequests.map((row) => row['request_id']));
  for (const request of evidence.requests) {
    if (ids.has(request.id)) {
      requests.set(request.id, request);
    }
  }
  const skews = evidence.faults.filter(({ fault }) => fault === 'clock-skew');
  const seen = new Set<unknown>();
  for (const row of failedRequests) {
    // Of a killed client, the ledger lacks the last lines.
    const request = requests.get(String(row['request_id']));
    if (request === undefined) {
      continue;
    }
    const { id, status, code, sentMs, receivedMs } = request;
    claim.check(!seen.has(id), () => `${id} is kept twice`);
    seen.add(id);
    if (status === null) {
      claim.weaken();
      continue;
    }
    // Without a whole response, the ledger lacks its code.
    const isAsSent = row['status'] === status && (code === null || row['code'] === code);
    const kept = `${row['status']} ${row['code']}`;
    claim.check(isAsSent, () => `${id} got ${status} ${code}, but is kept with ${kept}`);
    if (usesOwnClock(request, skews)) {
      claim.weaken();
      continue;
    }
    const keptMs = history.toMonotonicMs(String(row['requested_at']));
    claim.check(
      keptMs >= sentMs - DRIFT_MS && keptMs <= (receivedMs ?? Infinity) + DRIFT_MS,
      () => `${id} was sent at ${sentMs} and had its response at ${receivedMs}, but is kept with ${keptMs}`,
    );
  }
}

/** Whether its replica may have taken the time from a wrong clock, or from an estimate of the store's. */
function usesOwnClock({ replica, headers, sentMs, receivedMs }: Request, skews: Fault[]): boolean {
  return (
    headers.degraded === true ||
    skews.some(
      ({ target, startMs, endMs }) =>
        target === replica && startMs <= (receivedMs ?? Infinity) && (endMs ?? Infinity) >= sentMs,
    )
  );
}
