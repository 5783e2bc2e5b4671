import { Inject, Injectable } from '@nestjs/common';
import type { WebhookDelivery, Webhook } from '../database/generated/client.js';
import { databaseReason } from '../database/access/availability.js';
import { PeriodicTask } from '../database/batches/periodic-task.js';
import { PrismaService } from '../database/access/prisma.service.js';
import { loadSql } from '../database/access/statement.js';
import type { MetricsRegistry, MetricsSource } from '../process/metrics-registry.js';
import { ENVIRONMENT, type Environment } from '../process/settings/environment.js';
import { DEADLINE_MS, machineMs } from './post-to-receiver.js';
import { ReceiverProcess } from './receiver-process.client.js';
import { signedHeaders } from './rules/signed-headers.js';

/** The maximum time until a due delivery is found. */
const INTERVAL_MS = 500;
/**
 * The waits between attempts, less than a day in all. Each is longer than the deadline, with its random fifth
 * too.
 */
const WAITS_SECONDS = [15, 60, 300, 900, 1800, 3600, 7200, 14_400, 21_600, 36_000];
const MAX_IN_FLIGHT_TO_ONE = 10;
const FAILURE_MAX_LENGTH = 1000;

/**
 * A delivery that this replica alone may send until its next attempt, and the attempts so far, this one
 * included.
 */
type ClaimedDelivery = Pick<WebhookDelivery, 'id' | 'eventId' | 'webhookId' | 'attempts'> &
  Pick<Webhook, 'url'> & { secrets: string[]; body: string; attemptedAt: string };

type AttemptResult = Pick<WebhookDelivery, 'lastFailure' | 'responseStatus' | 'responseBody'>;

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
    const claimed = await this.prisma.sql.query(CLAIM, busy, MAX_IN_FLIGHT_TO_ONE, WAITS_SECONDS);
    for (const { delivery } of claimed) {
      const attempt = this.attempt(delivery, endMs).finally(() => this.inFlight.delete(attempt));
      this.inFlight.set(attempt, delivery.webhookId);
    }
    return false;
  }

  /** Never rejects: without a stored outcome, the delivery is sent again at its next attempt. */
  private async attempt(delivery: ClaimedDelivery, endMs: number): Promise<void> {
    const { id, attempts, attemptedAt } = delivery;
    const result = await this.send(delivery, endMs);
    const outcome = result.lastFailure === null ? 'succeeded' : 'failed';
    const stateAfterFailure = attempts > WAITS_SECONDS.length ? 'failed' : 'pending';
    const state = outcome === 'succeeded' ? 'delivered' : stateAfterFailure;
    try {
      await this.prisma.webhookDelivery.updateMany({
        // Changes nothing if another attempt has begun since.
        where: { id, state: 'pending', lastAttemptAt: attemptedAt },
        data: { ...result, ...(state !== 'pending' && { state, nextAttemptAt: null }) },
      });
      this.attemptsByOutcome[outcome] += 1;
      this.failedDeliveries += state === 'failed' ? 1 : 0;
    } catch (error) {
      const reason = databaseReason(error);
      this.logger.warn(`A webhook delivery is sent again, because its outcome was not stored: ${reason}`);
    }
  }

  /** Returns what an attempt stores: why it failed, if it did, and the response, if there was one. */
  private async send(delivery: ClaimedDelivery, endMs: number): Promise<AttemptResult> {
    const { eventId, url, secrets, body, attemptedAt } = delivery;
    try {
      const headers = signedHeaders(eventId, new Date(attemptedAt), body, secrets);
      const allowsPrivate = this.environment.WEBHOOK_ALLOW_PRIVATE_ADDRESSES;
      const response = await this.receivers.post({ url, headers, body, allowsPrivate, endMs });
      const isSuccess = response.status >= 200 && response.status <= 299;
      const lastFailure = isSuccess ? null : `The response was ${response.status}`;
      return { lastFailure, responseStatus: response.status, responseBody: response.body };
    } catch (error) {
      const lastFailure = (error as Error).message.slice(0, FAILURE_MAX_LENGTH);
      return { lastFailure, responseStatus: null, responseBody: null };
    }
  }
}
