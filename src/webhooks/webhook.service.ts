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
import { DEADLINE_MS } from './post-to-receiver.js';
import { dedupeKeyOf, queueEvents } from './queue-events.js';
import { TEST_EVENT } from './events.js';
import { type DeliveryStatus, toShownDelivery, withDeliveryStatus } from './last-deliveries.js';
import { changeWebhooks, queuePause } from './pause-webhook.js';
import { ALLOW_PRIVATE, findPrivateHost } from './rules/public-address.js';
import { generateSecret } from './rules/signed-headers.js';
import { type Actor, recordAuditEvent } from '../audit/audit.js';
import type {
  CreateWebhookInput,
  DeliveryQuery,
  UpdateWebhookInput,
  WebhookQuery,
} from './webhook.schemas.js';
import { DAY_MS } from '../process/time-units.js';

/**
 * The maximum number of webhooks, because a change that causes an event waits until it is queued for each of
 * them.
 */
export const WEBHOOKS_MAX = 20;

const WEBHOOK = { omit: { secret: true, previousSecret: true } } as const;
const DELIVERY = {
  omit: { webhookId: true, dedupeKey: true, firstAttemptAt: true, lastSucceededAt: true, withheld: true },
} as const;

type StoredWebhook = Prisma.WebhookGetPayload<typeof WEBHOOK>;
/** A webhook without its secrets. */
export type WebhookRecord = Omit<StoredWebhook, 'retryAfterAt'> & DeliveryStatus & { paused: boolean };
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

  /** Returns one page, oldest first, of all webhooks, or of those that are limited to a quota. */
  async page({ limit, cursor, quotaId }: WebhookQuery): Promise<Page<WebhookRecord>> {
    const rows = await this.database.webhook.findMany({
      where: {
        ...(cursor !== undefined && { id: { gt: cursor } }),
        ...(quotaId !== undefined && { quotaId }),
      },
      orderBy: { id: 'asc' },
      take: limit + 1,
      ...WEBHOOK,
    });
    return toPage(await this.shown(this.database, rows), limit);
  }

  /** @throws ApiError `not_found`. */
  async find(id: string): Promise<WebhookRecord> {
    return this.shownOne(this.database, await this.findStored(id));
  }

  /**
   * @throws ApiError `conflict` if the maximum number of webhooks exists already; `invalid_request` if the
   *   URL has a private address, or the quota does not exist.
   */
  async create(input: CreateWebhookInput, actor: Actor): Promise<NewWebhook> {
    this.requireAllowed(input.url);
    const { url, events, quotaId = null } = input;
    const data = { url, events, quotaId, secret: generateSecret() };
    return this.change(async (transaction) => {
      if ((await transaction.webhook.count()) >= WEBHOOKS_MAX) {
        throw new ApiError('conflict', `There are ${WEBHOOKS_MAX} webhooks already. Delete one first.`);
      }
      await requireQuota(transaction, quotaId);
      const { secret, ...created } = await transaction.webhook.create({
        data,
        omit: { previousSecret: true },
      });
      await recordAuditEvent(transaction, actor, 'webhook.created', created, null, audited(created));
      return { ...(await this.shownOne(transaction, created)), secret };
    });
  }

  /**
   * Changes the URL of a webhook, its events, and whether it is paused. Unless it is paused, a new URL gets
   * the pending deliveries at once, as a resumed webhook does, for three days from then on.
   *
   * @throws ApiError `not_found`; `invalid_request` if the URL has a private address.
   */
  async update(id: string, input: UpdateWebhookInput, actor: Actor): Promise<WebhookRecord> {
    this.requireAllowed(input.url);
    return this.change(async (transaction) => {
      const old = await this.findStored(id, transaction);
      const wasPaused = old.pausedAt !== null;
      const { url = old.url, events = old.events, paused = wasPaused } = input;
      const pausedAt = paused ? (old.pausedAt ?? new Date(await readServerTimeMs(transaction))) : null;
      const pauseReason = paused ? (old.pauseReason ?? 'administrator') : null;
      const isResumed = wasPaused && !paused;
      const retryAfterAt = isResumed || url !== old.url ? null : old.retryAfterAt;
      const data = { url, events, pausedAt, pauseReason, retryAfterAt };
      const changed = await transaction.webhook.update({ where: { id }, data, ...WEBHOOK });
      if (!isDeepStrictEqual(old, changed)) {
        await recordAuditEvent(transaction, actor, 'webhook.updated', old, audited(old), audited(changed));
      }
      if (!paused && (isResumed || url !== old.url)) {
        await sendPending(transaction, id);
      }
      if (!wasPaused && pausedAt !== null) {
        await queuePause(transaction, id, pausedAt, 'administrator');
      }
      return this.shownOne(transaction, changed);
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
      const old = await this.findStored(id, transaction);
      const { secret: previousSecret } = await transaction.webhook.findFirstOrThrow({ where: { id } });
      const after = { previousSecretExpiresAt: new Date((await readServerTimeMs(transaction)) + DAY_MS) };
      const data = { ...after, previousSecret, secret };
      const changed = await transaction.webhook.update({ where: { id }, data, ...WEBHOOK });
      const before = { previousSecretExpiresAt: old.previousSecretExpiresAt };
      await recordAuditEvent(transaction, actor, 'webhook.secret_rotated', old, before, after);
      return { ...(await this.shownOne(transaction, changed)), secret };
    });
  }

  /**
   * Deletes a webhook with its deliveries.
   *
   * @throws ApiError `not_found`.
   */
  async delete(id: string, actor: Actor): Promise<WebhookRecord> {
    return this.change(async (transaction) => {
      const old = await this.findStored(id, transaction);
      await transaction.webhook.deleteMany({ where: { id } });
      await recordAuditEvent(transaction, actor, 'webhook.deleted', old, audited(old), {});
      return this.shownOne(transaction, old);
    });
  }

  /**
   * Queues a test event for one webhook, whatever its events, and returns its delivery. It is sent only once.
   *
   * @throws ApiError `not_found`; `conflict` if the webhook is paused.
   */
  async test(id: string, actor: Actor): Promise<DeliveryRecord> {
    return this.change(async (transaction) => {
      const webhook = await this.findStored(id, transaction);
      if (webhook.pausedAt !== null) {
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
    const webhook = await this.findStored(id);
    const rows = await this.database.webhookDelivery.findMany({
      where: {
        webhookId: id,
        withheld: false,
        ...(state && { state }),
        ...(cursor && { id: { lt: cursor } }),
      },
      orderBy: { id: 'desc' },
      take: limit + 1,
      ...DELIVERY,
    });
    return toPage(
      rows.map((row) => toShownDelivery(webhook, row)),
      limit,
    );
  }

  /** @throws ApiError `not_found` if there is no such webhook, or it has no such delivery. */
  async delivery(id: string, deliveryId: string): Promise<DeliveryRecord> {
    const webhook = await this.findStored(id);
    const where = { id: deliveryId, webhookId: id, withheld: false };
    const row = isUuid(deliveryId)
      ? await this.database.webhookDelivery.findFirst({ where, ...DELIVERY })
      : null;
    if (row === null) {
      throw unknownDelivery(deliveryId);
    }
    return toShownDelivery(webhook, row);
  }

  /**
   * Queues a delivery again, for three days of attempts.
   *
   * @throws ApiError `not_found`; `conflict` if it is pending, because it may be in flight, or in a state of
   *   a newer release.
   */
  async resend(id: string, deliveryId: string, actor: Actor): Promise<DeliveryRecord> {
    return inTransaction(this.database, async (transaction) => {
      const webhook = await this.findStored(id, transaction);
      const where = { id: deliveryId, webhookId: id, withheld: false };
      if (!isUuid(deliveryId) || (await transaction.webhookDelivery.count({ where })) === 0) {
        throw unknownDelivery(deliveryId);
      }
      const nextAttemptAt = new Date(await readServerTimeMs(transaction));
      const [delivery] = await transaction.webhookDelivery.updateManyAndReturn({
        where: { ...where, state: { in: ['delivered', 'failed'] } },
        data: { state: 'pending', attempts: 0, lastFailure: null, nextAttemptAt },
        ...DELIVERY,
      });
      if (delivery === undefined) {
        const message = 'The delivery is still pending. Send it again once it is delivered or has failed.';
        throw new ApiError('conflict', message);
      }
      const after = auditedDelivery(delivery);
      await recordAuditEvent(transaction, actor, 'webhook.delivery_resent', webhook, null, after);
      return toShownDelivery(webhook, delivery);
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

  private change<Result>(work: (transaction: Prisma.TransactionClient) => Promise<Result>): Promise<Result> {
    return changeWebhooks(this.database, work);
  }

  private findStored(id: string, database: Database = this.database): Promise<StoredWebhook> {
    return requireRecord('webhook', id, (where) => database.webhook.findFirst({ where, ...WEBHOOK }));
  }

  private async shown(database: Database, stored: StoredWebhook[]): Promise<WebhookRecord[]> {
    const webhooks = await withDeliveryStatus(database, stored);
    return webhooks.map(({ retryAfterAt: _notShown, ...webhook }) => ({
      ...webhook,
      paused: webhook.pausedAt !== null,
    }));
  }

  private async shownOne(database: Database, stored: StoredWebhook): Promise<WebhookRecord> {
    const [webhook] = await this.shown(database, [stored]);
    return webhook as WebhookRecord;
  }
}

/** Makes the pending deliveries of a webhook due, those in flight once their attempt has ended. */
function sendPending(transaction: Prisma.TransactionClient, webhookId: string) {
  const attemptSeconds = DEADLINE_MS / 1000 + 1;
  return transaction.$executeRaw`
    UPDATE webhook_deliveries
    SET next_attempt_at = least(
      next_attempt_at,
      greatest(statement_timestamp(), last_attempt_at + make_interval(secs => ${attemptSeconds}::float8))
    )
    WHERE
      webhook_id = ${webhookId}::uuid AND state = 'pending' AND next_attempt_at > statement_timestamp()`;
}

async function requireQuota(transaction: Prisma.TransactionClient, quotaId: string | null): Promise<void> {
  if (quotaId !== null && (await transaction.quota.count({ where: { id: quotaId } })) === 0) {
    const message = `The request is invalid: quotaId: no quota has the id ${quotaId}.`;
    throw new ApiError('invalid_request', message);
  }
}

const unknownDelivery = (id: string) =>
  new ApiError('not_found', `The webhook has no delivery with the id "${id}".`);

/** Returns what the append-only audit shows of a webhook. The rest of its URL may contain a secret. */
function audited({ url, events, quotaId, pausedAt }: StoredWebhook) {
  const limited = quotaId !== null && { quotaId };
  return { url: new URL(url).origin, events, ...limited, paused: pausedAt !== null };
}

const auditedDelivery = ({ id, eventType }: DeliveryRecord) => ({ deliveryId: id, eventType });
