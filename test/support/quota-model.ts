const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const LADDER_MS = [MINUTE_MS, 5 * MINUTE_MS, HOUR_MS, DAY_MS];

export interface Limits {
  perMinute: number;
  perDay: number;
}

/** When something happened, as near as a test can tell. */
export interface Moment {
  fromMs: number;
  toMs: number;
}

/** What one response tells of its quota. */
export interface Told {
  /** That of the error; of what was admitted the status. */
  code: string;
  limits: Limits;
  left: [minute: number, day: number];
  remaining: number;
  resetSeconds: number;
  /** Until a ban, which only a refusal tells. */
  refusalsLeft: number | null;
}

/** What one request is told, in words; and when it may come again, where it was not admitted. */
export interface Verdict {
  told: string;
  dueMs: number | null;
}

/** What one who asks where a quota stands is told. */
export interface Standing {
  windows: { name: string; limit: number; remaining: number; reset: number }[];
  refusalsUntilBan: number;
  bannedUntil: string | null;
}

const startOf = (ms: number, lengthMs: number) => ms - (ms % lengthMs);
const endOf = (ms: number, lengthMs: number) => startOf(ms, lengthMs) + lengthMs;

/**
 * A quota by the rules as they are written, one request after another. It shares nothing with the service, so that the two
 * can only agree where both are right.
 */
export class QuotaModel {
  private minuteUsed = 0;
  private dayUsed = 0;
  private refusals = 0;
  /** How many bans the next one comes after, as far as they are not yet forgiven. */
  private step = 0;
  /** The end of the last ban, also of one that is over. */
  private banEndMs: number | null = null;

  constructor(
    public limits: Limits,
    private nowMs: number,
  ) {}

  get lastBanEndMs(): number | null {
    return this.banEndMs;
  }

  passTo(ms: number): void {
    if (startOf(ms, MINUTE_MS) > startOf(this.nowMs, MINUTE_MS)) {
      this.minuteUsed = 0;
      this.refusals = 0;
    }
    if (startOf(ms, DAY_MS) > startOf(this.nowMs, DAY_MS)) {
      this.dayUsed = 0;
    }
    this.nowMs = ms;
  }

  /** The next instant at which something changes by itself: a window's end, a ban's, or a step down the ladder. */
  nextEdgeMs(ms: number): number {
    const minuteEndMs = endOf(ms, MINUTE_MS);
    if (this.banEndMs === null) {
      return minuteEndMs;
    }
    const daysSince = Math.floor((ms - this.banEndMs) / DAY_MS) + 1;
    return Math.min(minuteEndMs, this.banEndMs + daysSince * DAY_MS);
  }

  /**
   * What so many requests are told.
   *
   * @param saidEndMs when a ban ends by what the service says. Only to the millisecond it is taken at its word, as nobody else
   *   knows at which one it judged the request that started the ban.
   */
  judge(requests: number, moment: Moment, saidEndMs: number | null): Verdict[] {
    this.passTo(moment.fromMs);
    return Array.from({ length: requests }, () => this.judgeOne(moment, saidEndMs));
  }

  lift(atMs: number): void {
    this.passTo(atMs);
    if (this.isBanned()) {
      this.banEndMs = atMs;
      this.refusals = 0;
    }
  }

  standing(): Standing {
    const { limits, nowMs } = this;
    const [minuteLeft, dayLeft] = this.left();
    const reset = (lengthMs: number) => endOf(nowMs, lengthMs) / SECOND_MS;
    return {
      windows: [
        { name: 'minute', limit: limits.perMinute, remaining: minuteLeft, reset: reset(MINUTE_MS) },
        { name: 'day', limit: limits.perDay, remaining: dayLeft, reset: reset(DAY_MS) },
      ],
      refusalsUntilBan: this.isBanned() ? 0 : this.refusalsLeft(),
      bannedUntil: this.isBanned() ? new Date(this.banEndMs as number).toISOString() : null,
    };
  }

  private judgeOne(moment: Moment, saidEndMs: number | null): Verdict {
    if (this.isBanned()) {
      return this.banned();
    }
    if (this.minuteUsed < this.limits.perMinute && this.dayUsed < this.limits.perDay) {
      this.minuteUsed += 1;
      this.dayUsed += 1;
      return { told: this.told('200', null), dueMs: null };
    }
    this.refusals += 1;
    if (this.refusals >= this.limits.perMinute) {
      this.startBan(moment, saidEndMs);
      return this.banned();
    }
    const dueMs = endOf(this.nowMs, this.left()[1] === 0 ? DAY_MS : MINUTE_MS);
    return { told: this.told('rate_limit_exceeded', this.refusalsLeft()), dueMs };
  }

  private startBan({ fromMs, toMs }: Moment, saidEndMs: number | null): void {
    let forgivenMs = (this.banEndMs ?? 0) + DAY_MS;
    while (this.step > 0 && forgivenMs <= fromMs) {
      this.step -= 1;
      forgivenMs += DAY_MS;
    }
    const lengthMs = LADDER_MS[Math.min(this.step, LADDER_MS.length - 1)] as number;
    this.step = Math.min(this.step + 1, LADDER_MS.length);
    const isTrue = saidEndMs !== null && saidEndMs >= fromMs + lengthMs && saidEndMs <= toMs + lengthMs;
    this.banEndMs = isTrue ? saidEndMs : fromMs + lengthMs;
    this.refusals = 0;
  }

  private isBanned(): boolean {
    return this.banEndMs !== null && this.banEndMs > this.nowMs;
  }

  private left(): [minute: number, day: number] {
    const { perMinute, perDay } = this.limits;
    return [Math.max(0, perMinute - this.minuteUsed), Math.max(0, perDay - this.dayUsed)];
  }

  private refusalsLeft(): number {
    return Math.max(1, this.limits.perMinute - this.refusals);
  }

  private banned(): Verdict {
    const dueMs = this.banEndMs as number;
    const resetSeconds = Math.ceil(dueMs / SECOND_MS);
    const told: Told = {
      code: 'api_key_banned',
      limits: this.limits,
      left: [0, 0],
      remaining: 0,
      resetSeconds,
      refusalsLeft: null,
    };
    return { told: inWords(told), dueMs };
  }

  private told(code: string, refusalsLeft: number | null): string {
    const left = this.left();
    const resetSeconds = endOf(this.nowMs, left[0] < left[1] ? MINUTE_MS : DAY_MS) / SECOND_MS;
    return inWords({
      code,
      limits: this.limits,
      left,
      remaining: Math.min(...left),
      resetSeconds,
      refusalsLeft,
    });
  }
}

/** What a request is told, in one line that can be compared and sorted. */
export function inWords({ code, limits, left, remaining, resetSeconds, refusalsLeft }: Told): string {
  const windows = `${left[0]} of ${limits.perMinute} this minute, ${left[1]} of ${limits.perDay} today`;
  const refusals = refusalsLeft === null ? '' : `, ${refusalsLeft} refusals left`;
  return `${code}: ${windows}, ${remaining} remaining, reset ${resetSeconds}${refusals}`;
}
