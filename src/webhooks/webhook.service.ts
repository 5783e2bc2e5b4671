import { isDeepStrictEqual } from 'node:util';
import { Inject, Injectable } from '@nestjs/common';
import type { Prisma } from '../database/generated/client.js';
import { type Database, inTransaction } from '../database/in-transaction.js';
import { PrismaService } from '../database/prisma.service.js';
import { readServerTimeMs } from '../database/server-time.js';
import { ApiError } from '../http/api-error.js';
import { type Page, toPage } from '../schemas/pagination.js';
import { isUuid } from '../schemas/uuid.js';
import { ENVIRONMENT, type Environment } from '../settings/environment.js';
import { queueTestEvent } from './queue-events.js';
import { ALLOW_PRIVATE, findPrivateHost } from './rules/public-address.js';
import { generateSecret } from './rules/signed-headers.js';
import { type Action, type Actor, recordAuditEvent } from '../audit/audit.js';
import type { CreateWebhookInput, DeliveryQuery, UpdateWebhookInput } from './webhook.schemas.js';

/**
 * The maximum number of webhooks, because a change that causes an event waits until it is queued for each of
 * them.
 */
const WEBHOOKS_MAX = 20;
const OVERLAP_MS = 86_400_000;

const WEBHOOK = { omit: { secret: true, previousSecret: true } } as const;
const DELIVERY = { omit: { webhookId: true, dedupeKey: true } } as const;

/** A webhook without its secrets. */
export type WebhookRecord = Prisma.WebhookGetPayload<typeof WEBHOOK>;
/** A webhook with its new secret. */
export type NewWebhook = WebhookRecord & { secret: string };
export type DeliveryRecord = Prisma.WebhookDeliveryGetPayload<typeof DELIVERY>;

/**
 * Creates and changes webhooks, and shows their deliveries. Each change and its audit event are one
 * transaction.
 */
@Injectable()
export class WebhookService {
  constructor(
    private readonly database: PrismaService,
    @Inject(ENVIRONMENT) private readonly environment: Pick<Environment, 'WEBHOOK_ALLOW_PRIVATE_ADDRESSES'>,
  ) {}

  /** Returns all, oldest first. */
  list(): Promise<WebhookRecord[]> {
    return this.database.webhook.findMany({ orderBy: { id: 'asc' }, ...WEBHOOK });
  }

  /** @throws ApiError `not_found`. */
  async find(id: string, database: Database = this.database): Promise<WebhookRecord> {
    const found = isUuid(id) ? await database.webhook.findUnique({ where: { id }, ...WEBHOOK }) : null;
    if (found === null) {
      throw new ApiError('not_found', `There is no webhook with the id "${id}".`);
    }
    return found;
  }

  /**
   * @throws ApiError `conflict` if the maximum number of webhooks exists already; `invalid_request` if the
   *   URL has a private address.
   */
  async create(input: CreateWebhookInput, actor: Actor): Promise<NewWebhook> {
    this.requireAllowed(input.url);
    const data = { ...input, secret: generateSecret() };
    return this.change(async (transaction) => {
      if ((await transaction.webhook.count()) >= WEBHOOKS_MAX) {
        throw new ApiError('conflict', `There are ${WEBHOOKS_MAX} webhooks already. Delete one first.`);
      }
      const created = await transaction.webhook.create({ data, omit: { previousSecret: true } });
      const event = { actor, subject: `webhook:${created.id}`, before: null, after: audited(created) };
      await recordAuditEvent(transaction, { ...event, action: 'webhook.created' });
      return created;
    });
  }

  /**
   * Changes the URL of a webhook, its events, and whether it is paused. Pending deliveries are sent to the
   * new URL.
   *
   * @throws ApiError `not_found`; `invalid_request` if the URL has a private address.
   */
  async update(id: string, input: UpdateWebhookInput, actor: Actor): Promise<WebhookRecord> {
    this.requireAllowed(input.url);
    return this.change(async (transaction) => {
      const old = await this.find(id, transaction);
      const { url = old.url, events = old.events, paused = old.pausedAt !== null } = input;
      const pausedAt = paused ? (old.pausedAt ?? new Date(await readServerTimeMs(transaction))) : null;
      const pauseReason = paused ? (old.pauseReason ?? 'administrator') : null;
      const data = { url, events, pausedAt, pauseReason };
      const changed = await transaction.webhook.update({ where: { id }, data, ...WEBHOOK });
      if (!isDeepStrictEqual(old, changed)) {
        const event = { actor, subject: `webhook:${id}`, before: audited(old), after: audited(changed) };
        await recordAuditEvent(transaction, { ...event, action: 'webhook.changed' });
      }
      return changed;
    });
  }

  /**
   * Replaces the secret. The old one signs too for a day, unless it is replaced again.
   *
   * @throws ApiError `not_found`.
   */
  async rotateSecret(id: string, actor: Actor): Promise<NewWebhook> {
    const secret = generateSecret();
    return this.change(async (transaction) => {
      const { previousSecretExpiresAt } = await this.find(id, transaction);
      const nowMs = await readServerTimeMs(transaction);
      const after = { previousSecretExpiresAt: new Date(nowMs + OVERLAP_MS) };
      await transaction.$executeRaw`
        UPDATE webhooks
        SET
          previous_secret = secret,
          previous_secret_expires_at = ${after.previousSecretExpiresAt},
          secret = ${secret}
        WHERE id = ${id}::uuid`;
      const event = { actor, subject: `webhook:${id}`, before: { previousSecretExpiresAt }, after };
      await recordAuditEvent(transaction, { ...event, action: 'webhook.secret_rotated' });
      return { ...(await this.find(id, transaction)), secret };
    });
  }

  /**
   * Deletes a webhook with its deliveries.
   *
   * @throws ApiError `not_found`.
   */
  async delete(id: string, actor: Actor): Promise<WebhookRecord> {
    return this.change(async (transaction) => {
      const old = await this.find(id, transaction);
      await transaction.webhook.deleteMany({ where: { id } });
      const event = { actor, subject: `webhook:${id}`, before: audited(old), after: {} };
      await recordAuditEvent(transaction, { ...event, action: 'webhook.deleted' });
      return old;
    });
  }

  /**
   * Queues a test event for one webhook, whatever its events, and returns its delivery.
   *
   * @throws ApiError `not_found`; `conflict` if the webhook is paused.
   */
  async test(id: string, actor: Actor): Promise<DeliveryRecord> {
    return this.change(async (transaction) => {
      const { pausedAt } = await this.find(id, transaction);
      if (pausedAt !== null) {
        throw new ApiError('conflict', 'The webhook is paused. Resume it first.');
      }
      const dedupeKey = await queueTestEvent(transaction, id);
      const delivery = await transaction.webhookDelivery.findUniqueOrThrow({
        where: { dedupeKey_webhookId: { dedupeKey, webhookId: id } },
        ...DELIVERY,
      });
      await recordAuditEvent(transaction, deliveryEvent(actor, 'webhook.tested', id, delivery));
      return delivery;
    });
  }

  /**
   * Returns one page of the deliveries of a webhook, newest first.
   *
   * @throws ApiError `not_found`.
   */
  async deliveries(id: string, { limit, cursor, state }: DeliveryQuery): Promise<Page<DeliveryRecord>> {
    await this.find(id);
    const rows = await this.database.webhookDelivery.findMany({
      where: { webhookId: id, ...(state && { state }), ...(cursor && { id: { lt: cursor } }) },
      orderBy: { id: 'desc' },
      take: limit + 1,
      ...DELIVERY,
    });
    return toPage(rows, limit);
  }

  /**
   * Queues a delivery again, for a day of attempts.
   *
   * @throws ApiError `not_found`; `conflict` if it is pending, because it may be in flight.
   */
  async resend(id: string, deliveryId: string, actor: Actor): Promise<DeliveryRecord> {
    return inTransaction(this.database, async (transaction) => {
      await this.find(id, transaction);
      const where = { id: deliveryId, webhookId: id };
      if (!isUuid(deliveryId) || (await transaction.webhookDelivery.count({ where })) === 0) {
        throw new ApiError('not_found', `The webhook has no delivery with the id "${deliveryId}".`);
      }
      const nextAttemptAt = new Date(await readServerTimeMs(transaction));
      const [delivery] = await transaction.webhookDelivery.updateManyAndReturn({
        where: { ...where, state: { not: 'pending' } },
        data: { state: 'pending', attempts: 0, nextAttemptAt },
        ...DELIVERY,
      });
      if (delivery === undefined) {
        const message = 'The delivery is still pending. Send it again once it is delivered or has failed.';
        throw new ApiError('conflict', message);
      }
      await recordAuditEvent(transaction, deliveryEvent(actor, 'webhook.delivery_resent', id, delivery));
      return delivery;
    });
  }

  /** Denies at once what would fail at every delivery, which looks up names too. */
  private requireAllowed(url: string | undefined): void {
    const host = url === undefined ? null : findPrivateHost(new URL(url).hostname);
    if (host !== null && !this.environment.WEBHOOK_ALLOW_PRIVATE_ADDRESSES) {
      const message = `The request is invalid: url: ${host} is a private address. ${ALLOW_PRIVATE}`;
      throw new ApiError('invalid_request', message);
    }
  }

  /** Runs a change after other changes of webhooks, so that it misses none. */
  private change<Result>(work: (transaction: Prisma.TransactionClient) => Promise<Result>): Promise<Result> {
    return inTransaction(this.database, async (transaction) => {
      await transaction.$executeRaw`LOCK TABLE webhooks IN SHARE ROW EXCLUSIVE MODE`;
      return work(transaction);
    });
  }
}

/** Returns what the append-only audit shows of a webhook. The rest of its URL may contain a secret. */
function audited({ url, events, pausedAt }: WebhookRecord) {
  return { url: new URL(url).origin, events, paused: pausedAt !== null };
}

/** Returns the audit event of a delivery that was queued by an administrator. */
function deliveryEvent(actor: Actor, action: Action, webhookId: string, { id, eventType }: DeliveryRecord) {
  return {
    actor,
    action,
    subject: `webhook:${webhookId}`,
    before: null,
    after: { delivery: id, event: eventType },
  };
}
