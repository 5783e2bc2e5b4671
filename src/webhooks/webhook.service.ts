import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { Inject, Injectable } from '@nestjs/common';
import type { Prisma } from '../database/generated/client.js';
import { type Database, inTransaction } from '../database/access/in-transaction.js';
import { PrismaService } from '../database/access/prisma.service.js';
import { readServerTimeMs } from '../database/access/server-time.js';
import { requireRecord } from '../auth/require-record.js';
import { ApiError } from '../http/routes/api-error.js';
import { type Page, toPage } from '../schemas/pagination.js';
import { isUuid } from '../schemas/uuid.js';
import { ENVIRONMENT, type Environment } from '../process/settings/environment.js';
import { dedupeKeyOf, queueEvents } from './queue-events.js';
import { TEST_EVENT } from './events.js';
import { ALLOW_PRIVATE, findPrivateHost } from './rules/public-address.js';
import { generateSecret } from './rules/signed-headers.js';
import { type Actor, recordAuditEvent } from '../audit/audit.js';
import type { CreateWebhookInput, DeliveryQuery, UpdateWebhookInput } from './webhook.schemas.js';
import { DAY_MS } from '../process/time-units.js';

/**
 * The maximum number of webhooks, because a change that causes an event waits until it is queued for each of
 * them.
 */
export const WEBHOOKS_MAX = 20;

const WEBHOOK = { omit: { secret: true, previousSecret: true } } as const;
const DELIVERY = { omit: { webhookId: true, dedupeKey: true } } as const;

type StoredWebhook = Prisma.WebhookGetPayload<typeof WEBHOOK>;
/** A webhook without its secrets. */
export type WebhookRecord = StoredWebhook & { paused: boolean };
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

  /** Returns one page, oldest first, after the id `after`. */
  async page(limit: number, after?: string): Promise<Page<WebhookRecord>> {
    const rows = await this.database.webhook.findMany({
      ...(after !== undefined && { where: { id: { gt: after } } }),
      orderBy: { id: 'asc' },
      take: limit + 1,
      ...WEBHOOK,
    });
    return toPage(rows.map(toWebhook), limit);
  }

  /** @throws ApiError `not_found`. */
  async find(id: string, database: Database = this.database): Promise<WebhookRecord> {
    const find = (where: { id: string }) => database.webhook.findFirst({ where, ...WEBHOOK });
    return toWebhook(await requireRecord('webhook', id, find));
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
      const { secret, ...created } = await transaction.webhook.create({
        data,
        omit: { previousSecret: true },
      });
      await recordAuditEvent(transaction, actor, 'webhook.created', created, null, audited(created));
      return { ...toWebhook(created), secret };
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
      const { url = old.url, events = old.events, paused = old.paused } = input;
      const pausedAt = paused ? (old.pausedAt ?? new Date(await readServerTimeMs(transaction))) : null;
      const pauseReason = paused ? (old.pauseReason ?? 'administrator') : null;
      const data = { url, events, pausedAt, pauseReason };
      const changed = toWebhook(await transaction.webhook.update({ where: { id }, data, ...WEBHOOK }));
      if (!isDeepStrictEqual(old, changed)) {
        await recordAuditEvent(transaction, actor, 'webhook.updated', old, audited(old), audited(changed));
      }
      return changed;
    });
  }

  /**
   * Replaces the secret. The old one also signs for a day, unless the secret is replaced again.
   *
   * @throws ApiError `not_found`.
   */
  async rotateSecret(id: string, actor: Actor): Promise<NewWebhook> {
    const secret = generateSecret();
    return this.change(async (transaction) => {
      const old = await this.find(id, transaction);
      const { secret: previousSecret } = await transaction.webhook.findFirstOrThrow({ where: { id } });
      const after = { previousSecretExpiresAt: new Date((await readServerTimeMs(transaction)) + DAY_MS) };
      const data = { ...after, previousSecret, secret };
      const changed = await transaction.webhook.update({ where: { id }, data, ...WEBHOOK });
      const before = { previousSecretExpiresAt: old.previousSecretExpiresAt };
      await recordAuditEvent(transaction, actor, 'webhook.secret_rotated', old, before, after);
      return { ...toWebhook(changed), secret };
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
      await recordAuditEvent(transaction, actor, 'webhook.deleted', old, audited(old), {});
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
      const webhook = await this.find(id, transaction);
      if (webhook.paused) {
        throw new ApiError('conflict', 'The webhook is paused. Resume it first.');
      }
      const event = {
        type: TEST_EVENT,
        subject: randomUUID(),
        webhookId: id,
        data: { webhookId: id },
      } as const;
      await queueEvents(transaction, [event]);
      const where = { webhookId: id, dedupeKey: dedupeKeyOf(event) };
      const delivery = await transaction.webhookDelivery.findFirstOrThrow({ where, ...DELIVERY });
      await recordAuditEvent(transaction, actor, 'webhook.tested', webhook, null, auditedDelivery(delivery));
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
   * @throws ApiError `not_found`; `conflict` if it is pending, because it may be in flight, or in a state of
   *   a newer release.
   */
  async resend(id: string, deliveryId: string, actor: Actor): Promise<DeliveryRecord> {
    return inTransaction(this.database, async (transaction) => {
      const webhook = await this.find(id, transaction);
      const where = { id: deliveryId, webhookId: id };
      if (!isUuid(deliveryId) || (await transaction.webhookDelivery.count({ where })) === 0) {
        throw new ApiError('not_found', `The webhook has no delivery with the id "${deliveryId}".`);
      }
      const nextAttemptAt = new Date(await readServerTimeMs(transaction));
      const [delivery] = await transaction.webhookDelivery.updateManyAndReturn({
        where: { ...where, state: { in: ['delivered', 'failed'] } },
        data: { state: 'pending', attempts: 0, nextAttemptAt },
        ...DELIVERY,
      });
      if (delivery === undefined) {
        const message = 'The delivery is still pending. Send it again once it is delivered or has failed.';
        throw new ApiError('conflict', message);
      }
      const after = auditedDelivery(delivery);
      await recordAuditEvent(transaction, actor, 'webhook.delivery_resent', webhook, null, after);
      return delivery;
    });
  }

  /** Denies at once what would fail at every delivery. */
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

function toWebhook(stored: StoredWebhook): WebhookRecord {
  return { ...stored, paused: stored.pausedAt !== null };
}

/** Returns what the append-only audit shows of a webhook. The rest of its URL may contain a secret. */
function audited({ url, events, pausedAt }: StoredWebhook) {
  return { url: new URL(url).origin, events, paused: pausedAt !== null };
}

const auditedDelivery = ({ id, eventType }: DeliveryRecord) => ({ deliveryId: id, eventType });
