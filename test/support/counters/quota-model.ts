const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const BAN_DURATIONS_MS = [MINUTE_MS, 5 * MINUTE_MS, HOUR_MS, DAY_MS];

export interface Limits {
  perMinute: number;
  perDay: number;
}

/** An interval in which something happened. */
export interface Moment {
  fromMs: number;
  toMs: number;
}

/** What one response reports about its quota. */
interface QuotaReport {
  /** The code of the error, or the status of an allowed request. */
  code: string;
  limits: Limits;
  left: [minute: number, day: number];
  remaining: number;
  resetSeconds: number;
  /** Until a ban; only in a 429. */
  refusalsLeft: number | null;
}

/** The expected response to one request. */
export interface ExpectedResponse {
  /** The report about its quota, in one line. */
  report: string;
  /** When a denied request may be sent again. */
  dueMs: number | null;
}

/** The expected rate-limit status. */
interface RateLimitStatus {
  windows: { name: string; limit: number; remaining: number; reset: number }[];
  refusalsUntilBan: number;
  bannedUntil: string | null;
}

const startOf = (ms: number, lengthMs: number) => ms - (ms % lengthMs);
const endOf = (ms: number, lengthMs: number) => startOf(ms, lengthMs) + lengthMs;

/**
 * A quota by the documented rules, one request after another. It shares no code with the service, so that both have the same fault
 * only by coincidence.
 */
export class QuotaModel {
  private minuteUsed = 0;
  private dayUsed = 0;
  private refusals = 0;
  /** The index of the next ban's duration. */
  private banLevel = 0;
  /** The end of the last ban, also of a past one. */
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

  /** Returns the next instant at which a window or a ban ends, or the ban level falls. */
  nextEdgeMs(ms: number): number {
    const minuteEndMs = endOf(ms, MINUTE_MS);
    if (this.banEndMs === null) {
      return minuteEndMs;
    }
    const daysSince = Math.floor((ms - this.banEndMs) / DAY_MS) + 1;
    return Math.min(minuteEndMs, this.banEndMs + daysSince * DAY_MS);
  }

  /**
   * Returns the expected responses to so many requests.
   *
   * @param reportedEndMs the end of the ban that the service reports. It gives the exact millisecond, as only the service has the time
   *   at which it counted the request that started the ban.
   */
  consume(requests: number, moment: Moment, reportedEndMs: number | null): ExpectedResponse[] {
    this.passTo(moment.fromMs);
    return Array.from({ length: requests }, () => this.consumeOne(moment, reportedEndMs));
  }

  liftBan(atMs: number): void {
    this.passTo(atMs);
    if (this.isBanned()) {
      this.banEndMs = atMs;
      this.refusals = 0;
    }
  }

  status(): RateLimitStatus {
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

  private consumeOne(moment: Moment, reportedEndMs: number | null): ExpectedResponse {
    if (this.isBanned()) {
      return this.banned();
    }
    if (this.minuteUsed < this.limits.perMinute && this.dayUsed < this.limits.perDay) {
      this.minuteUsed += 1;
      this.dayUsed += 1;
      return { report: this.report('200', null), dueMs: null };
    }
    this.refusals += 1;
    if (this.refusals >= this.limits.perMinute) {
      this.startBan(moment, reportedEndMs);
      return this.banned();
    }
    const dueMs = endOf(this.nowMs, this.left()[1] === 0 ? DAY_MS : MINUTE_MS);
    return { report: this.report('rate_limit_exceeded', this.refusalsLeft()), dueMs };
  }

  private startBan({ fromMs, toMs }: Moment, reportedEndMs: number | null): void {
    let forgivenMs = (this.banEndMs ?? 0) + DAY_MS;
    while (this.banLevel > 0 && forgivenMs <= fromMs) {
      this.banLevel -= 1;
      forgivenMs += DAY_MS;
    }
    const lengthMs = BAN_DURATIONS_MS[Math.min(this.banLevel, BAN_DURATIONS_MS.length - 1)] as number;
    this.banLevel = Math.min(this.banLevel + 1, BAN_DURATIONS_MS.length);
    const isTrue =
      reportedEndMs !== null && reportedEndMs >= fromMs + lengthMs && reportedEndMs <= toMs + lengthMs;
    this.banEndMs = isTrue ? reportedEndMs : fromMs + lengthMs;
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

  private banned(): ExpectedResponse {
    const dueMs = this.banEndMs as number;
    const resetSeconds = Math.ceil(dueMs / SECOND_MS);
    const report = inWords({
      code: 'api_key_banned',
      limits: this.limits,
      left: [0, 0],
      remaining: 0,
      resetSeconds,
      refusalsLeft: null,
    });
    return { report, dueMs };
  }

  private report(code: string, refusalsLeft: number | null): string {
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

/** Returns a report as one line, which can be compared and sorted. */
export function inWords({ code, limits, left, remaining, resetSeconds, refusalsLeft }: QuotaReport): string {
  const windows = `${left[0]} of ${limits.perMinute} this minute, ${left[1]} of ${limits.perDay} today`;
  const refusals = refusalsLeft === null ? '' : `, ${refusalsLeft} refusals left`;
  return `${code}: ${windows}, ${remaining} remaining, reset ${resetSeconds}${refusals}`;
}
