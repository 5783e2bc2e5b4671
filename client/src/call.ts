import { AnimalStoreError } from './error.js';
import { errorOfResponse, noResponse, unexpectedResponse } from './failures.js';
import type { ClientHooks } from './hooks.js';
import type { Hold, Pacer } from './pacer.js';
import type { ClientPlatform } from './platform.js';
import { rateLimitWindows } from './rate-limit-headers.js';
import { type CallBudget, deniesConcurrency, deniesKey, mayRetry, retryDelayMs } from './retry.js';
import { within } from './time-limit.js';

/** What all calls of a client have in common. */
export interface Transport {
  platform: ClientPlatform;
  budget: CallBudget;
  hooks: ClientHooks;
  /** How many requests may be in flight at once. */
  maxConcurrentRequests: number;
  /** Paces the calls that count against the windows of the key. */
  pacer: Pacer;
  /** Paces the calls that do not. */
  statusPacer: Pacer;
}

/** How one call is sent. */
interface CallSettings {
  /** Ends the call, even while it waits. */
  signal: AbortSignal;
  /** Whether a request may be repeated although the service may have carried it out. */
  repeatable: boolean;
  /** Whether the call counts against the windows of the key. */
  counted: boolean;
  /** Returns the body of a successful response; throws if it is broken. */
  parse: (text: string) => unknown;
}

/** One call: sends its request until it succeeds, fails for good, or its budget is used up. */
export class Call {
  /** Requests sent so far. */
  attempts = 0;
  private readonly startedAtMs: number;
  private readonly pacer: Pacer;
  private readonly number: number;

  constructor(
    private readonly transport: Transport,
    private readonly settings: CallSettings,
  ) {
    this.startedAtMs = transport.platform.monotonicNow();
    this.pacer = settings.counted ? transport.pacer : transport.statusPacer;
    this.number = this.pacer.newCallNumber();
  }

  /**
   * Returns the successful response, its body read.
   *
   * @throws AnimalStoreError; the signal's reason once that is aborted.
   */
  async send(request: Request): Promise<Response> {
    let latest: AnimalStoreError | null = null;
    for (;;) {
      const sentAtMs = await this.enter(latest);
      const result = await this.attempt(request, sentAtMs);
      if (result instanceof Response) {
        return result;
      }
      latest = result.error;
      await this.waitForRetry(result);
    }
  }

  /** Waits until the next attempt may be sent. @returns when, by the clock of the pacer. */
  private async enter(latest: AnimalStoreError | null): Promise<number> {
    const { signal } = this.settings;
    const { maxConcurrentRequests, budget } = this.transport;
    const budgetMs = this.leftMs();
    const entry = {
      number: this.number,
      budgetMs,
      maxRateLimitWaitMs: budget.maxRateLimitWaitMs,
      maxConcurrentRequests,
    };
    try {
      return await within(budgetMs, signal, (limited) => this.pacer.enter(entry, limited));
    } catch (cause) {
      signal.throwIfAborted();
      throw latest ?? (cause instanceof AnimalStoreError ? cause : noResponse(cause));
    }
  }

  private async attempt(request: Request, sentAtMs: number): Promise<Response | FailedAttempt> {
    const { signal, counted } = this.settings;
    const { budget, platform } = this.transport;
    let headers = new Headers();
    let hold: Hold | null = null;
    let isCongested = false;
    this.attempts += 1;
    try {
      const limitMs = Math.min(budget.attemptTimeoutMs, this.leftMs());
      const response = await within(limitMs, signal, (limited) => this.exchange(request, limited));
      ({ headers } = response);
      return response;
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof AnimalStoreError)) {
        throw error;
      }
      error.attempts = this.attempts;
      ({ headers } = error);
      const delayMs = retryDelayMs(error, this.attempts, platform.random);
      hold = deniesKey(error) ? { ms: delayMs, cause: error } : null;
      isCongested = deniesConcurrency(error);
      return { error, delayMs };
    } finally {
      this.pacer.leave({ sentAtMs, windows: counted ? rateLimitWindows(headers) : [], hold, isCongested });
    }
  }

  /**
   * Sends the request once. Reads the response to its end too, so that a broken one is repeated as a whole.
   */
  private async exchange(request: Request, signal: AbortSignal): Promise<Response> {
    const { platform, hooks } = this.transport;
    const attempt = this.attempts;
    // The request of the call has no signal: Node would add a listener for each clone, and keep it.
    const sent = new Request(request.clone(), { signal });
    hooks.onRequest?.({ request: sent, attempt });
    const startedAtMs = platform.monotonicNow();
    let response: Response;
    let text: string;
    inFlight.add(sent);
    try {
      response = await platform.fetch(sent);
      text = await response.text();
    } catch (cause) {
      throw noResponse(signal.aborted ? signal.reason : cause);
    } finally {
      inFlight.delete(sent);
    }
    const { status, headers } = response;
    const durationMs = platform.monotonicNow() - startedAtMs;
    hooks.onResponse?.({ request: sent, attempt, status, headers, durationMs });
    if (!response.ok) {
      throw errorOfResponse(response, text, platform.now());
    }
    // The caller parses it. It is checked here too, so that the error counts all attempts.
    try {
      this.settings.parse(text);
    } catch (cause) {
      throw unexpectedResponse(response, platform.now(), { cause });
    }
    return new Response(text, response);
  }

  /**
   * @throws AnimalStoreError the one given, if another attempt would not help or the budget does not allow
   *   it.
   */
  private async waitForRetry({ error, delayMs }: FailedAttempt): Promise<void> {
    const { budget, hooks, platform } = this.transport;
    const used = { attempts: this.attempts, elapsedMs: this.elapsedMs() };
    if (!mayRetry(error, delayMs, used, budget, this.settings.repeatable)) {
      throw error;
    }
    hooks.onRetry?.({ error, attempt: this.attempts, waitMs: delayMs });
    // Otherwise the pacer holds all calls of the key, and sends this one first.
    if (!deniesKey(error)) {
      await platform.pause(delayMs, this.settings.signal);
    }
    // The pause may have taken longer, because the machine slept.
    if (this.leftMs() <= 0) {
      throw error;
    }
  }

  private elapsedMs(): number {
    return this.transport.platform.monotonicNow() - this.startedAtMs;
  }

  private leftMs(): number {
    return this.transport.budget.timeoutMs - this.elapsedMs();
  }
}

interface FailedAttempt {
  error: AnimalStoreError;
  /** Milliseconds to wait at least before another attempt. */
  delayMs: number;
}

/**
 * Requests without a response yet. Node does not abort a request that nothing refers to once its memory is
 * collected.
 */
const inFlight = new Set<Request>();
