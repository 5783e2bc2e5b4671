import { groupBy } from './group.js';
import type { Claim } from './claim.js';
import type { Evidence } from './evidence.js';
import { type Counted, type History, isCounted, MINUTE_MS } from './history.js';

/** The longest time for which a client waits for a response. */
const PATIENCE_MS = 10_000;

/** A ban starts at the refusal that reaches the limit per minute: of a minute, that many minus one are refused before. */
export function checkBans({ requests }: Evidence, history: History, claim: Claim): void {
  for (const [quota, all] of groupBy(
    requests.filter(({ quota: its }) => its !== null),
    (request) => request.quota as string,
  )) {
    const denied = all
      .filter(isCounted)
      .filter(
        ({ code, headers }) =>
          /^(rate_limit_exceeded|api_key_banned)$/.test(code ?? '') && headers.degraded === undefined,
      );
    const minutes = new Set(
      denied.flatMap(({ sentMs, receivedMs }) =>
        [sentMs, receivedMs].map((ms) => Math.floor(history.toWallMs(ms) / MINUTE_MS)),
      ),
    );
    for (const minute of minutes) {
      const fromMs = history.toMonotonicMs(new Date(minute * MINUTE_MS).toISOString());
      const toMs = fromMs + MINUTE_MS;
      if (history.mayLiftBan(quota, fromMs, toMs + PATIENCE_MS)) {
        claim.weaken();
        continue;
      }
      // The shared store may have counted these all the same.
      const unknown = all.filter(
        ({ sentMs, receivedMs, status, headers }) =>
          (receivedMs === null || status === 503 || headers.degraded === true) &&
          sentMs <= toMs &&
          (receivedMs ?? sentMs + PATIENCE_MS) >= fromMs,
      ).length;
      checkMinute({ quota, minute, fromMs, toMs, unknown }, denied, history, claim);
    }
  }
}

interface Minute {
  quota: string;
  minute: number;
  fromMs: number;
  toMs: number;
  /** The requests of this minute whose outcome is unknown. */
  unknown: number;
}

function checkMinute(
  { quota, minute, fromMs, toMs, unknown }: Minute,
  denied: Counted[],
  history: History,
  claim: Claim,
): void {
  const limits = history.limitsDuring(quota, fromMs, toMs).perMinute;
  const [least, most] = [Math.min(...limits), Math.max(...limits)];
  const mayBeHere = ({ sentMs, receivedMs }: Counted) => sentMs <= toMs && receivedMs >= fromMs;
  const refused = denied.filter((each) => each.code === 'rate_limit_exceeded' && mayBeHere(each));
  const isHere = (each: Counted) => history.findWindow(each, MINUTE_MS, each.headers.minute.t) === minute;
  const name = `the minute ${new Date(minute * MINUTE_MS).toISOString()} of ${quota}`;
  // While it lasts, every response names the same end.
  const bans = [
    ...groupBy(
      denied.filter(({ code }) => code === 'api_key_banned'),
      ({ headers }) => headers.reset,
    ).values(),
  ]
    .map((responses) => ({
      firstSentMs: Math.min(...responses.map(({ sentMs }) => sentMs)),
      firstReceivedMs: Math.min(...responses.map(({ receivedMs }) => receivedMs)),
    }))
    .toSorted((one, other) => one.firstReceivedMs - other.firstReceivedMs);
  const forgotten = history.countForgotten(refused, fromMs, toMs);
  const hasCrash = history.crashes.some(({ startMs }) => startMs >= fromMs && startMs <= toMs);
  // A ban of which no response came whole would start the count anew.
  const upTo = (most - 1) * (unknown > 0 ? 2 : 1) + forgotten;
  let beforeMs = -Infinity;
  for (const { firstSentMs, firstReceivedMs } of bans) {
    const before = refused.filter(({ sentMs }) => sentMs > beforeMs && sentMs < firstReceivedMs);
    beforeMs = firstReceivedMs;
    if (firstReceivedMs < fromMs || firstSentMs > toMs) {
      continue;
    }
    if (firstSentMs < fromMs || firstReceivedMs > toMs) {
      claim.weaken();
      continue;
    }
    const certain = before.filter(isHere).length;
    if (unknown > 0 || hasCrash) {
      claim.weaken();
    }
    claim.check(
      certain <= upTo && (hasCrash || before.length + unknown >= least - 1),
      () =>
        `${name} started a ban after ${certain} refusals, with ${unknown} unknown requests, of the limit ${least}`,
    );
  }
  const after = refused.filter((each) => each.sentMs > beforeMs && isHere(each)).length;
  claim.check(after <= upTo, () => `${name} had ${after} refusals without a ban, of the limit ${most}`);
}
