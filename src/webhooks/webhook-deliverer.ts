import { Inject, Injectable } from '@nestjs/common';
import type { Webhook, WebhookDelivery } from '../database/generated/client.js';
import { databaseReason } from '../database/access/availability.js';
import { PeriodicTask } from '../database/batches/periodic-task.js';
import { PrismaService } from '../database/access/prisma.service.js';
import { loadSql } from '../database/access/statement.js';
import type { MetricsRegistry, MetricsSource } from '../process/metrics-registry.js';
import { ENVIRONMENT, type Environment } from '../process/settings/environment.js';
import { DAY_MS } from '../process/time-units.js';
import { type PauseReason, TEST_EVENT } from './events.js';
import { changeWebhooks, pauseWebhook } from './pause-webhook.js';
import { DEADLINE_MS, machineMs } from './post-to-receiver.js';
import { ReceiverProcess } from './receiver-process.client.js';
import { retryAfterMs } from './rules/retry-after.js';
import { signedHeaders } from './rules/signed-headers.js';

/** The maximum time until a due delivery is found. */
const INTERVAL_MS = 500;
/** The waits between attempts. Each is longer than the deadline, even without its random fifth. */
const WAITS_SECONDS = [20, 60, 300, 900, 1800, 3600, 7200, 14_400, 21_600, 36_000, 50_400, 72_000];
/** The time from the first attempt to the last. */
const ATTEMPTS_SECONDS = (3 * DAY_MS) / 1000;
const STATUS_GONE = 410;
const MAX_IN_FLIGHT_TO_ONE = 10;
const FAILURE_MAX_LENGTH = 1000;

/** A delivery that this replica alone may send until its next attempt. */
interface ClaimedDelivery
  extends Pick<WebhookDelivery, 'id' | 'eventId' | 'webhookId'>, Pick<Webhook, 'url'> {
  secrets: string[];
  body: string;
  isTest: boolean;
  /** Whether it fails if this attempt does. */
  isLast: boolean;
  firstAttemptAt: string;
  attemptedAt: string;
  nextAttemptAt: string;
  /** The time of the last attempt, if no earlier one succeeds. */
  lastAt: string;
}

/** What an attempt stores. */
type AttemptResult = Pick<WebhookDelivery, 'lastFailure' | 'responseStatus' | 'responseBody'>;
interface Attempt {
  result: AttemptResult;
  /** Until when the receiver wants no request; null if it did not say so. */
  retryAfterAt: Date | null;
}

const CLAIM = loadSql<{ delivery: ClaimedDelivery }>(import.meta.url, 'claim-deliveries');

/** Sends the deliveries that are due. It runs on every replica, and none sends what another has claimed. */
@Injectable()
export class WebhookDeliverer extends PeriodicTask implements MetricsSource {
  private readonly attemptsByOutcome = { succeeded: 0, failed: 0 };
  private readonly receivers = new ReceiverProcess();
  private failedDeliveries = 0;
  /** The attempts in flight, each with the id of its webhook. */
  private readonly inFlight = new Map<Promise<void>, string>();

  constructor(
    private readonly prisma: PrismaService,
    @Inject(ENVIRONMENT) private readonly environment: Pick<Environment, 'WEBHOOK_ALLOW_PRIVATE_ADDRESSES'>,
  ) {
    super(INTERVAL_MS, () => this.startDue(), 'Could not deliver webhooks');
  }

  addMetrics(metrics: MetricsRegistry): void {
    metrics.counter('webhook_delivery_attempts_total', 'Attempts to deliver an event.', ['outcome'], () =>
      Object.entries(this.attemptsByOutcome).map(([outcome, count]) => [count, outcome]),
    );
    metrics.counter('webhook_deliveries_failed_total', 'Deliveries whose last attempt failed.', [], () => [
      [this.failedDeliveries],
    ]);
  }

  /** Ends the attempts in flight before the connections to the database are closed. */
  override async onApplicationShutdown(): Promise<void> {
    await super.onApplicationShutdown();
    await this.receivers.end('The service ended');
    await Promise.all(this.inFlight.keys());
  }

  /**
   * Starts the deliveries that are due. A webhook with an attempt in flight gets no other, so that one that
   * hangs delays only its own.
   */
  private async startDue(): Promise<boolean> {
    if (!this.receivers.isAvailable) {
      return false;
    }
    const busy = [...this.inFlight.values()];
    // From before the claim, so that a process that was suspended during it sends nothing.
    const endMs = machineMs() + DEADLINE_MS;
    const claimed = await this.prisma.sql.query(
      CLAIM,
      busy,
      MAX_IN_FLIGHT_TO_ONE,
      WAITS_SECONDS,
      ATTEMPTS_SECONDS,
      TEST_EVENT,
    );
    for (const { delivery } of claimed) {
      const attempt = this.attempt(delivery, endMs).finally(() => this.inFlight.delete(attempt));
      this.inFlight.set(attempt, delivery.webhookId);
    }
    return false;
  }

  /** Never rejects: without a stored outcome, the delivery is sent again at its next attempt. */
  private async attempt(delivery: ClaimedDelivery, endMs: number): Promise<void> {
    const attempt = await this.send(delivery, endMs);
    try {
      await this.store(delivery, attempt);
    } catch (error) {
      const reason = databaseReason(error);
      this.logger.warn(`A webhook delivery is sent again, because its outcome was not stored: ${reason}`);
      return;
    }
    try {
      await this.heed(delivery, attempt);
    } catch (error) {
      this.logger.warn(`Could not store when a webhook gets its next delivery: ${databaseReason(error)}`);
    }
  }

  private async store(delivery: ClaimedDelivery, { result }: Attempt): Promise<void> {
    const { id, attemptedAt, isLast } = delivery;
    const outcome = result.lastFailure === null ? 'succeeded' : 'failed';
    const stateAfterFailure = isLast ? 'failed' : 'pending';
    const state = outcome === 'succeeded' ? 'delivered' : stateAfterFailure;
    await this.prisma.webhookDelivery.updateMany({
      // Changes nothing if another attempt has begun since.
      where: { id, state: 'pending', lastAttemptAt: attemptedAt },
      data: { ...result, state, ...(state !== 'pending' && { nextAttemptAt: null }) },
    });
    this.attemptsByOutcome[outcome] += 1;
    this.failedDeliveries += state === 'failed' ? 1 : 0;
  }

  /** Waits as long as `Retry-After` says, and pauses a webhook that is gone or keeps failing. */
  private async heed(delivery: ClaimedDelivery, { result, retryAfterAt }: Attempt): Promise<void> {
    const { webhookId: id, url, attemptedAt: lastAttemptAt } = delivery;
    if (retryAfterAt !== null) {
      const waits = { nextAttemptAt: { lt: retryAfterAt }, webhook: { url } };
      await this.prisma.webhookDelivery.updateMany({
        where: { id: delivery.id, state: 'pending', lastAttemptAt, ...waits },
        data: { nextAttemptAt: retryAfterAt },
      });
      // Never shortens the wait that an earlier response asked for.
      const isShorter = [{ retryAfterAt: null }, { retryAfterAt: { lt: retryAfterAt } }];
      await this.prisma.webhook.updateMany({ where: { id, url, OR: isShorter }, data: { retryAfterAt } });
    }
    if (result.responseStatus === STATUS_GONE) {
      await this.pause(delivery, 'gone');
    } else if (result.lastFailure !== null && delivery.isLast && !delivery.isTest) {
      await this.pause(delivery, 'failing');
    }
  }

  private async pause(delivery: ClaimedDelivery, reason: PauseReason): Promise<void> {
    const { webhookId, url, firstAttemptAt } = delivery;
    const isPaused = await changeWebhooks(this.prisma, async (transaction) => {
      const recent = { gte: firstAttemptAt };
      // A success before the upgrade is known by its state only. One that is sent again has another state.
      const isSuccess = [{ state: 'delivered' }, { lastSucceededAt: recent }];
      const where = { webhookId, lastAttemptAt: recent, OR: isSuccess };
      const hasSucceeded = reason === 'failing' && (await transaction.webhookDelivery.count({ where })) > 0;
      return !hasSucceeded && (await pauseWebhook(transaction, { id: webhookId, url }, reason));
    });
    if (isPaused) {
      this.logger.warn(
        reason === 'gone'
          ? `The webhook ${webhookId} is paused, because its receiver responded 410.`
          : `The webhook ${webhookId} is paused, because no delivery succeeded for three days.`,
      );
    }
  }

  /** Returns what an attempt stores: why it failed, if it did, and the response, if there was one. */
  private async send(delivery: ClaimedDelivery, endMs: number): Promise<Attempt> {
    const { eventId, url, secrets, body, attemptedAt, lastAt } = delivery;
    const sentMs = machineMs();
    try {
      const headers = signedHeaders(eventId, new Date(attemptedAt), body, secrets);
      const allowsPrivate = this.environment.WEBHOOK_ALLOW_PRIVATE_ADDRESSES;
      const response = await this.receivers.post({ url, headers, body, allowsPrivate, endMs });
      const isSuccess = response.status >= 200 && response.status <= 299;
      const lastFailure = isSuccess ? null : `The response was ${response.status}`;
      // By the clock of the database, as all times of deliveries.
      const nowMs = Date.parse(attemptedAt) + (machineMs() - sentMs);
      const untilMs = retryAfterMs(response, nowMs, Date.parse(lastAt));
      return {
        result: { lastFailure, responseStatus: response.status, responseBody: response.body },
        retryAfterAt: untilMs === null ? null : new Date(untilMs),
      };
    } catch (error) {
      const lastFailure = (error as Error).message.slice(0, FAILURE_MAX_LENGTH);
      return { result: { lastFailure, responseStatus: null, responseBody: null }, retryAfterAt: null };
    }
  }
}
