import { leastOf } from './extremes.js';
import { groupBy } from './group.js';
import type { Claim } from './claim.js';
import type { Evidence, Request } from './evidence.js';
import {
  type Counted,
  type History,
  isCounted,
  isUncertain,
  isUndecided,
  mayBeDuring,
  MINUTE_MS,
  RESPONSE_DEADLINE_MS,
} from './history.js';

/**
 * Returns how many denials within a minute start a ban: the documented rule, apart from the service's code.
 */
export const denialsBeforeBan = (perMinute: number): number => perMinute;

/** A ban starts at the denial that reaches the threshold: in its minute, one less were denied before. */
export function checkBans({ requests, run }: Evidence, history: History, claim: Claim): void {
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
    const bans = toBans(denied, run.banDurations);
    bans.forEach((ban) => checkThatBanLasts(ban, all, history, claim));
    const minutes = new Set(
      denied.flatMap(({ sentMs, receivedMs }) =>
        [sentMs, receivedMs].map((ms) => Math.floor(history.toWallMs(ms) / MINUTE_MS)),
      ),
    );
    minutes.forEach((minute) => checkMinute(quota, minute, all, denied, bans, history, claim));
  }
}

/** A ban, by the responses that met it. While it lasts, every response names the same end. */
interface Ban {
  firstSentMs: number;
  firstReceivedMs: number;
  /** Seconds since the Unix epoch. */
  endSeconds: number;
  /**
   * The earliest time at which it started, for each duration that it may have, in milliseconds since the Unix
   * epoch.
   */
  startsMs: number[];
}

function toBans(denied: Counted[], banDurations: number[]): Ban[] {
  const banned = denied.filter(({ code }) => code === 'api_key_banned');
  return [...groupBy(banned, ({ headers }) => headers.reset ?? 0)]
    .map(([endSeconds, responses]) => ({
      firstSentMs: leastOf(responses, ({ sentMs }) => sentMs),
      firstReceivedMs: leastOf(responses, ({ receivedMs }) => receivedMs),
      endSeconds,
      startsMs: banDurations.map((seconds) => (endSeconds - 1 - seconds) * 1000),
    }))
    .toSorted((one, other) => one.firstReceivedMs - other.firstReceivedMs);
}

/**
 * The shared store allows nothing and counts no denial from a ban's first response to its end, unless it is
 * lifted or forgotten.
 */
function checkThatBanLasts(
  { firstSentMs, firstReceivedMs, endSeconds }: Ban,
  all: Request[],
  history: History,
  claim: Claim,
): void {
  const endMs = history.toMonotonicMs((endSeconds - 1) * 1000);
  const during = all
    .filter(isCounted)
    .filter((request) => !isUndecided(request))
    .filter(
      ({ sentMs, receivedMs, headers }) =>
        sentMs > firstReceivedMs && receivedMs < endMs && headers.degraded === undefined,
    );
  for (const { id, quota, code, receivedMs } of during) {
    const isOver =
      history.mayLiftBan(quota, firstSentMs, receivedMs) ||
      history.mayForget({ sentMs: firstSentMs, receivedMs: firstReceivedMs }, receivedMs);
    if (isOver) {
      claim.weaken();
    } else {
      claim.check(code === 'api_key_banned', () => `${id} was not denied by the ban of ${quota} that lasts`);
    }
  }
}

function checkMinute(
  quota: string,
  minute: number,
  all: Request[],
  denied: Counted[],
  bans: Ban[],
  history: History,
  claim: Claim,
): void {
  const fromMs = history.toMonotonicMs(minute * MINUTE_MS);
  const toMs = fromMs + MINUTE_MS;
  if (history.mayLiftBan(quota, fromMs, toMs + RESPONSE_DEADLINE_MS)) {
    claim.weaken();
    return;
  }
  const unknown = all.filter((each) => isUncertain(each) && mayBeDuring(each, fromMs, toMs)).length;
  const limits = history.limitsDuring(quota, fromMs, toMs).perMinute;
  const [least, most] = [Math.min(...limits), Math.max(...limits)];
  const mayBeHere = ({ sentMs, receivedMs }: Counted) => sentMs <= toMs && receivedMs >= fromMs;
  const refused = denied.filter((each) => each.code === 'rate_limit_exceeded' && mayBeHere(each));
  const isHere = (each: Counted) => history.findWindow(each, MINUTE_MS, each.headers.minute.t) === minute;
  const name = `the minute ${new Date(minute * MINUTE_MS).toISOString()} of ${quota}`;
  const forgotten = history.countForgotten(refused, fromMs, toMs);
  const hasCrash = history.crashesDuring(fromMs, toMs).length > 0;
  // A ban without a complete response would restart the count.
  const upTo = (denialsBeforeBan(most) - 1) * (unknown > 0 ? 2 : 1) + forgotten;
  let beforeMs = -Infinity;
  for (const { firstSentMs, firstReceivedMs, startsMs } of bans) {
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
    // The response of the denial that started it may be lost, in an earlier minute.
    const mayBeOlder = unknown > 0 && startsMs.some((startMs) => startMs < minute * MINUTE_MS);
    if (unknown > 0 || hasCrash) {
      claim.weaken();
    }
    claim.check(
      certain <= upTo && (hasCrash || mayBeOlder || before.length + unknown >= denialsBeforeBan(least) - 1),
      () =>
        `${name} started a ban after ${certain} denials, with ${unknown} unknown requests, of the ` +
        `limit ${least}`,
    );
  }
  const after = refused.filter((each) => each.sentMs > beforeMs && isHere(each)).length;
  claim.check(after <= upTo, () => `${name} had ${after} denials without a ban, of the limit ${most}`);
}
