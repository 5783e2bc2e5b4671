import { CallQueue, type QueuedCall } from './call-queue.js';
import type { AnimalStoreError } from './error.js';
import { rateLimitWait } from './failures.js';
import { inFlightLimit, type KnownWindow, learn, waitForWindowsMs, windowAt } from './pacing.js';
import type { ClientPlatform } from './platform.js';
import type { RateLimitWindow } from './rate-limit-headers.js';

/** A response that forbids further requests for this many milliseconds, as an error. */
export interface Hold {
  ms: number;
  cause: AnimalStoreError;
}

/** How a request ended. */
interface Outcome {
  sentAtMs: number;
  /** The windows that the response reports; none without a response. */
  windows: RateLimitWindow[];
  /** Null if the response allows further requests. */
  hold: Hold | null;
  /** Whether too many requests were in flight at once. */
  isCongested: boolean;
}

/** A call that wants to send its next attempt. */
interface Entry {
  /** The number of the call. */
  number: number;
  /** Milliseconds that the call has left. */
  budgetMs: number;
  /** Milliseconds of them that it may wait for the limit. */
  maxRateLimitWaitMs: number;
  /** The call is not sent while this many requests are in flight. */
  maxConcurrentRequests: number;
}

/**
 * A limit that lasts longer is checked again after this time, because an administrator may have lifted it.
 */
const RECHECK_MS = 60_000;
/** Headers have whole seconds. */
const ROUNDING_MS = 2000;

/**
 * Decides when the requests of one key are sent: in the order of the calls, never more at once than they
 * allow, and none while a window is spent. It starts with one request and allows one more in flight with each
 * response, and half as many once too many were. After any other 429 it holds all calls for the time that the
 * response gives, and then starts with one request again.
 */
export class Pacer {
  private readonly queue = new CallQueue();
  private readonly windows = new Map<string, KnownWindow>();
  private inFlight = 0;
  private rampLimit = 1;
  /** From here on it takes a response to each request in flight to allow one more. */
  private slowRampLimit = Infinity;
  private heldSinceMs = -Infinity;
  private heldUntilMs = -Infinity;
  private heldBy: AnimalStoreError | null = null;
  /** When the latest response with limits arrived. */
  private knownAtMs = Infinity;
  /** The opening time against which all queued calls were checked last. */
  private checkedOpeningMs = -Infinity;
  private wakeAtMs = Infinity;
  private wake = new AbortController();
  /** Milliseconds by which pauses ended early, as those of a test do. */
  private skippedMs = 0;
  private nextNumber = 0;

  constructor(private readonly platform: Pick<ClientPlatform, 'pause' | 'monotonicNow'>) {}

  /** Returns the number of a new call, which keeps its place among others for all of its attempts. */
  newCallNumber(): number {
    this.nextNumber += 1;
    return this.nextNumber;
  }

  /**
   * Resolves when the next attempt of a call may be sent, with the time by the pacer's clock. `leave` must
   * follow.
   *
   * @throws RateLimitWaitError if it would have to wait longer; the signal's reason once that is aborted.
   */
  async enter(
    { number, budgetMs, maxRateLimitWaitMs, maxConcurrentRequests }: Entry,
    signal: AbortSignal,
  ): Promise<number> {
    signal.throwIfAborted();
    let abort = () => {};
    try {
      return await new Promise<number>((resolve, reject) => {
        const deadlineMs = this.now() + budgetMs;
        const call = { number, maxConcurrentRequests, deadlineMs, maxRateLimitWaitMs, resolve, reject };
        abort = () => this.abandon(call, signal.reason);
        signal.addEventListener('abort', abort);
        this.queueCall(call);
      });
    } finally {
      signal.removeEventListener('abort', abort);
    }
  }

  private queueCall(call: QueuedCall): void {
    const ahead = this.queue.add(call);
    const nowMs = this.now();
    const isProbe = ahead === 0 && this.isProbeDue(nowMs);
    if (this.checkedOpeningMs > nowMs && !isProbe) {
      this.rejectWhereTooLong(call, ahead);
    }
    this.dispatch();
  }

  private abandon(call: QueuedCall, reason: unknown): void {
    if (this.queue.remove(call)) {
      call.reject(reason);
      this.dispatch();
    }
  }

  /** Ends an attempt that `enter` allowed. */
  leave({ sentAtMs, windows, hold, isCongested }: Outcome): void {
    const receivedAtMs = this.now();
    this.inFlight -= 1;
    for (const window of windows) {
      this.windows.set(window.name, learn(this.windows.get(window.name), window, { sentAtMs, receivedAtMs }));
    }
    if (windows.length > 0 || hold !== null) {
      this.knownAtMs = receivedAtMs;
    }
    if (hold !== null) {
      this.rampLimit = 1;
      this.heldSinceMs = receivedAtMs;
      this.keepHold(receivedAtMs + hold.ms, hold.cause);
    } else if (isCongested) {
      this.rampLimit = Math.max(1, Math.floor((this.inFlight + 1) / 2));
      this.slowRampLimit = this.rampLimit;
    } else {
      this.rampLimit += this.rampLimit < this.slowRampLimit ? 1 : 1 / this.rampLimit;
      // A request that is allowed after the 429 ends the hold early.
      if (windows.length > 0 && sentAtMs >= this.heldSinceMs) {
        this.heldUntilMs = -Infinity;
      }
    }
    this.dispatch();
  }

  private now(): number {
    return this.platform.monotonicNow() + this.skippedMs;
  }

  /** Sends as many of the queued calls as may be sent now, and wakes up when the next may be. */
  private dispatch(nowMs = this.now()): void {
    for (const [name, window] of this.windows) {
      this.windows.set(name, windowAt(window, nowMs));
    }
    const waitMs = this.waitMs(0, nowMs);
    if (waitMs === 0) {
      this.checkedOpeningMs = -Infinity;
      this.send(Math.min(Math.floor(this.rampLimit), inFlightLimit(this.windows.values())), nowMs);
      return;
    }
    if (this.isProbeDue(nowMs)) {
      this.send(1, nowMs);
    }
    this.waitUntil(Math.ceil(nowMs + waitMs), nowMs);
  }

  private send(limit: number, nowMs: number): void {
    for (;;) {
      const [call] = this.queue;
      if (call === undefined || this.inFlight >= Math.min(limit, call.maxConcurrentRequests)) {
        return;
      }
      this.queue.remove(call);
      this.inFlight += 1;
      call.resolve(nowMs);
    }
  }

  private isProbeDue(nowMs: number): boolean {
    return this.inFlight === 0 && nowMs - this.knownAtMs >= RECHECK_MS;
  }

  private waitUntil(openingMs: number, nowMs: number): void {
    if (openingMs > this.checkedOpeningMs) {
      this.checkedOpeningMs = openingMs;
      let ahead = 0;
      for (const call of this.queue) {
        ahead += this.rejectWhereTooLong(call, ahead) ? 0 : 1;
      }
    }
    if (this.queue.size === 0) {
      this.stopWaking();
    } else if (openingMs < this.wakeAtMs) {
      this.stopWaking();
      this.wakeAtMs = openingMs;
      this.platform.pause(openingMs - nowMs, this.wake.signal).then(
        () => this.resume(openingMs),
        () => {},
      );
    }
  }

  private resume(openingMs: number): void {
    this.skippedMs += Math.max(0, openingMs - this.now());
    this.wakeAtMs = Infinity;
    this.dispatch(Math.max(openingMs, this.now()));
  }

  private stopWaking(): void {
    this.wake.abort();
    this.wake = new AbortController();
    this.wakeAtMs = Infinity;
  }

  /** @returns whether the call would have to wait beyond its time, and has left the queue. */
  private rejectWhereTooLong(call: QueuedCall, ahead: number): boolean {
    const nowMs = this.now();
    const waitMs = this.waitMs(ahead, nowMs);
    const isInTime = waitMs <= call.maxRateLimitWaitMs && nowMs + waitMs < call.deadlineMs;
    if (isInTime || !this.queue.remove(call)) {
      return false;
    }
    // After a ban, a spent day may still deny.
    const isForHold = nowMs < this.heldUntilMs && nowMs + waitMs <= this.heldUntilMs + ROUNDING_MS;
    call.reject(rateLimitWait(waitMs, isForHold ? this.heldBy : null));
    return true;
  }

  /** Keeps the hold that ends last: a shorter one may arrive after it. */
  private keepHold(untilMs: number, cause: AnimalStoreError): void {
    if (untilMs >= this.heldUntilMs) {
      this.heldUntilMs = untilMs;
      this.heldBy = cause;
    }
  }

  /** Returns the milliseconds that a call waits for the limit when `ahead` calls are sent before it. */
  private waitMs(ahead: number, nowMs: number): number {
    return Math.max(this.heldUntilMs - nowMs, waitForWindowsMs(this.windows.values(), ahead, nowMs), 0);
  }
}
