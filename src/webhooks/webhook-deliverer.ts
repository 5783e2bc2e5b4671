import { setTimeout as pause } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import { databaseReason } from '../database/availability.js';
import { inTransaction } from '../database/in-transaction.js';
import { PeriodicDatabaseTask } from '../database/periodic-task.js';
import { PrismaService } from '../database/prisma.service.js';
import { ENVIRONMENT, type Environment } from '../settings/environment.js';
import { type ClaimedDelivery, DeliveryQueue, type Settlement } from './delivery-queue.js';
import { disableEndpoint } from './disable-endpoint.js';
import { postToReceiver } from './post-to-receiver.js';
import { nextWaitMs } from './rules/retry-schedule.js';
import { signedHeaders } from './rules/signed-headers.js';

/** The maximum time until a due delivery is found. */
const INTERVAL_MS = 500;
const DEADLINE_MS = 10_000;
/** Much longer than the deadline, because a request that starts late must not outlast its lease. */
const LEASE_MS = 40_000;
const MAX_IN_FLIGHT = 16;
/** Leaves the others to other endpoints while one does not respond. */
const MAX_IN_FLIGHT_TO_ONE = 4;
/** For the responses that arrive while the service ends; the rest is sent again by another replica. */
const SHUTDOWN_WAIT_MS = 500;
const BACKLOG_INTERVAL_MS = 5000;
const GONE = 410;
const FAILURE_MAX_LENGTH = 1000;

/** Sends the deliveries that are due, a few at a time. It runs on every replica, and none sends what another has leased. */
@Injectable()
export class WebhookDeliverer extends PeriodicDatabaseTask {
  /** Attempts by outcome: `retried` is a failure that will be repeated. */
  readonly outcomes = { delivered: 0, retried: 0, failed: 0 };
  /** The pending deliveries, and the age of the oldest, a few seconds ago. */
  backlog: [pending: number, oldestSeconds: number] = [0, 0];
  private backlogReadMs = Number.NEGATIVE_INFINITY;
  /** Attempts, each with its endpoint and what ends its request. */
  private readonly inFlight = new Map<Promise<void>, { endpointId: string; request: AbortController }>();
  private isEnding = false;

  constructor(
    private readonly queue: DeliveryQueue,
    private readonly prisma: PrismaService,
    @Inject(ENVIRONMENT) private readonly environment: Pick<Environment, 'WEBHOOK_PRIVATE_ADDRESSES'>,
  ) {
    super(INTERVAL_MS, () => this.deliverDue(), 'Webhooks are not delivered for now');
  }

  /** Ends what is in flight before the connections to the database are closed. */
  override async onApplicationShutdown(): Promise<void> {
    const timer = setTimeout(() => {
      this.isEnding = true;
      this.inFlight.forEach(({ request }) => request.abort());
    }, SHUTDOWN_WAIT_MS);
    await super.onApplicationShutdown();
    await Promise.all(this.inFlight.keys());
    clearTimeout(timer);
  }

  /** Starts what is due, waits for the first attempt to end, and returns whether there was any. */
  private async deliverDue(): Promise<boolean> {
    if (performance.now() - this.backlogReadMs >= BACKLOG_INTERVAL_MS) {
      this.backlogReadMs = performance.now();
      this.backlog = await this.queue.backlog();
    }
    while (this.inFlight.size < MAX_IN_FLIGHT && (await this.startNext())) {
      // There is more.
    }
    if (this.inFlight.size === 0) {
      return false;
    }
    await Promise.race([...this.inFlight.keys(), pause(INTERVAL_MS)]);
    return true;
  }

  private async startNext(): Promise<boolean> {
    const startMs = performance.now();
    const ids = [...this.inFlight.values()].map(({ endpointId }) => endpointId);
    const busy = ids.filter((id) => ids.filter((each) => each === id).length >= MAX_IN_FLIGHT_TO_ONE);
    const delivery = await this.queue.claim(LEASE_MS, busy);
    // A process that was stopped meanwhile may have lost the lease.
    if (delivery === null || performance.now() - startMs > LEASE_MS - 2 * DEADLINE_MS) {
      return false;
    }
    const request = new AbortController();
    const attempt = this.attempt(delivery, request).finally(() => this.inFlight.delete(attempt));
    this.inFlight.set(attempt, { endpointId: delivery.endpointId, request });
    return true;
  }

  /** Never rejects: without a stored outcome, the delivery is sent again once its lease ends. */
  private async attempt(delivery: ClaimedDelivery, request: AbortController): Promise<void> {
    const deadline = setTimeout(() => request.abort(), DEADLINE_MS);
    try {
      const { isGone, ...settlement } = await this.send(delivery, request.signal);
      await this.queue.settle(delivery, settlement);
      if (isGone) {
        this.logger.warn(
          `Webhook ${delivery.endpointId} is disabled, because its receiver responded ${GONE}`,
        );
        const reason = `The receiver responded ${GONE} to another delivery`;
        await inTransaction(this.prisma, (transaction) =>
          disableEndpoint(transaction, delivery.endpointId, new Date(delivery.attemptedAt), reason),
        );
      }
      this.outcomes[settlement.state === 'pending' ? 'retried' : settlement.state] += 1;
    } catch (error) {
      const reason = databaseReason(error);
      this.logger.warn(`A webhook delivery is sent again, because its outcome was not stored: ${reason}`);
    } finally {
      clearTimeout(deadline);
    }
  }

  private async send(
    { id, url, secrets, body, attempts, attemptedAt }: ClaimedDelivery,
    signal: AbortSignal,
  ): Promise<Settlement & { isGone: boolean }> {
    const failed = (failure: string, isGone: boolean, retryAfter?: string) => {
      const waitMs = isGone ? null : nextWaitMs(attempts, retryAfter, Math.random());
      const state = waitMs === null ? ('failed' as const) : ('pending' as const);
      return { state, failure: failure.slice(0, FAILURE_MAX_LENGTH), attempts, waitMs: waitMs ?? 0, isGone };
    };
    try {
      const headers = signedHeaders(id, new Date(attemptedAt), body, secrets);
      const allowsPrivate = this.environment.WEBHOOK_PRIVATE_ADDRESSES;
      const { status, retryAfter } = await postToReceiver(new URL(url), headers, body, signal, allowsPrivate);
      return status >= 200 && status <= 299
        ? { state: 'delivered', failure: null, attempts, waitMs: 0, isGone: false }
        : failed(`The response was ${status}`, status === GONE, retryAfter);
    } catch (error) {
      if (signal.aborted) {
        return this.isEnding
          ? {
              state: 'pending',
              failure: 'The service ended',
              attempts: attempts - 1,
              waitMs: 0,
              isGone: false,
            }
          : failed(`No response within ${DEADLINE_MS / 1000} s`, false);
      }
      const { message, code = '' } = error as NodeJS.ErrnoException;
      // A name with several addresses fails without a message.
      return failed(message || code, false);
    }
  }
}
