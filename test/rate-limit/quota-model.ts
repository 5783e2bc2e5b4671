import type { RateLimitDecision } from '../../src/rate-limit/rules/rate-limit-decision.js';
import { denialsBeforeBan } from '../support/keys/bans.js';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../support/time/clock.js';

const BAN_DURATIONS_MS = [MINUTE_MS, 5 * MINUTE_MS, HOUR_MS, DAY_MS];

interface Limits {
  perMinute: number;
  perDay: number;
}

/** What the model predicts of a decision. */
type Prediction = Pick<RateLimitDecision, 'allowed' | 'windows' | 'denialsUntilBan' | 'ban'>;

const windowEndMs = (ms: number, lengthMs: number) => ms - (ms % lengthMs) + lengthMs;

/**
 * A quota by the documented rules, one request after another. It shares no code with the service, so that
 * both have the same fault only by coincidence.
 */
export class QuotaModel {
  private minuteUsed = 0;
  private dayUsed = 0;
  private denials = 0;
  /** The index of the next ban's duration. */
  private banLevel = 0;
  /** The end of the last ban, also of a past one. */
  banEndMs = 0;

  /** @param startsBans whether the store does: one that counts locally in an outage does not. */
  constructor(
    public limits: Limits,
    private nowMs: number,
    private readonly startsBans = true,
  ) {}

  get isBanned(): boolean {
    return this.banEndMs > this.nowMs;
  }

  /** The next instant at which a window or a ban ends, or the ban level falls. */
  get nextEdgeMs(): number {
    const daysSinceBan = Math.max(0, Math.floor((this.nowMs - this.banEndMs) / DAY_MS) + 1);
    return Math.min(windowEndMs(this.nowMs, MINUTE_MS), this.banEndMs + daysSinceBan * DAY_MS);
  }

  passTo(ms: number): void {
    if (ms >= windowEndMs(this.nowMs, MINUTE_MS)) {
      this.minuteUsed = 0;
      this.denials = 0;
    }
    if (ms >= windowEndMs(this.nowMs, DAY_MS)) {
      this.dayUsed = 0;
    }
    this.nowMs = ms;
  }

  /** @param startMs when the store counted the request that starts a ban, if one does. */
  consume(startMs: number): Prediction {
    const before = this.peek();
    if (before.allowed) {
      this.minuteUsed += 1;
      this.dayUsed += 1;
    } else if (!this.isBanned) {
      this.denials += 1;
      if (this.startsBans && this.denials >= denialsBeforeBan(this.limits.perMinute)) {
        this.startBan(startMs);
        return { ...this.peek(), ban: { untilMs: this.banEndMs, started: true } };
      }
    }
    return { ...this.peek(), allowed: before.allowed };
  }

  peek(): Prediction {
    const { limits, isBanned } = this;
    const [minuteLeft, dayLeft] = [limits.perMinute - this.minuteUsed, limits.perDay - this.dayUsed];
    return {
      allowed: !isBanned && minuteLeft > 0 && dayLeft > 0,
      windows: [
        this.window('minute', limits.perMinute, minuteLeft, MINUTE_MS),
        this.window('day', limits.perDay, dayLeft, DAY_MS),
      ],
      denialsUntilBan: isBanned ? 0 : Math.max(1, denialsBeforeBan(limits.perMinute) - this.denials),
      ban: isBanned ? { untilMs: this.banEndMs, started: false } : null,
    };
  }

  liftBan(): void {
    if (this.isBanned) {
      this.banEndMs = this.nowMs;
      this.denials = 0;
    }
  }

  private startBan(startMs: number): void {
    let fallsMs = this.banEndMs + DAY_MS;
    while (this.banLevel > 0 && fallsMs <= startMs) {
      this.banLevel -= 1;
      fallsMs += DAY_MS;
    }
    this.banEndMs = startMs + (BAN_DURATIONS_MS[Math.min(this.banLevel, 3)] as number);
    this.banLevel = Math.min(this.banLevel + 1, 4);
    this.denials = 0;
  }

  private window(name: 'minute' | 'day', limit: number, left: number, lengthMs: number) {
    const [lengthSeconds, resetSeconds] = [lengthMs / 1000, windowEndMs(this.nowMs, lengthMs) / 1000];
    return { name, lengthSeconds, limit, remaining: Math.max(0, left), resetSeconds };
  }
}
