import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { Prisma } from '../../database/generated/client.js';
import { type Database, inTransaction } from '../../database/in-transaction.js';
import { PrismaService } from '../../database/prisma.service.js';
import { readServerTimeMs } from '../../database/server-time.js';
import { ApiError } from '../../errors/api-error.js';
import { type Page, toPage } from '../../schemas/pagination.js';
import { isUuid } from '../../schemas/uuid.js';
import { Clock } from '../../settings/clock.js';
import { ENVIRONMENT, type Environment } from '../../settings/environment.js';
import { disableEndpoint } from '../../webhooks/disable-endpoint.js';
import { KEPT_DAYS } from '../../webhooks/queue-events.js';
import { isPublicAddress, literalAddress } from '../../webhooks/rules/public-address.js';
import { generateSecret } from '../../webhooks/rules/signed-headers.js';
import { TEST_EVENT } from '../../webhooks/event-types.js';
import { type Actor, recordAuditEvent, webhookEvent } from '../audit/audit.js';
import type {
  ChangeWebhookInput,
  CreateWebhookInput,
  DeliveryQuery,
  Webhook,
  WebhookDelivery,
  WebhookQuery,
  WebhookWithSecret,
} from './webhook.schemas.js';

const DAY_MS = 86_400_000;
const WITHOUT_SECRETS = { omit: { secret: true, previousSecret: true } } as const;

const SHOWN_OF_DELIVERY = {
  omit: { endpointId: true, eventKey: true, leasedUntil: true, keptUntil: true },
} as const;

type WebhookRecord = Prisma.WebhookEndpointGetPayload<typeof WITHOUT_SECRETS>;
type DeliveryRecord = Prisma.WebhookDeliveryGetPayload<typeof SHOWN_OF_DELIVERY>;

/** Creates and changes webhooks, and shows their deliveries. Each change and its audit event are one transaction. */
@Injectable()
export class WebhookService {
  constructor(
    private readonly database: PrismaService,
    private readonly clock: Clock,
    @Inject(ENVIRONMENT)
    private readonly environment: Pick<Environment, 'APP_ENV' | 'WEBHOOK_PRIVATE_ADDRESSES'>,
  ) {}

  /** Returns one page, oldest first. */
  async page({ limit, cursor }: WebhookQuery): Promise<Page<Webhook>> {
    const records = await this.database.webhookEndpoint.findMany({
      ...(cursor !== undefined && { where: { id: { gt: cursor } } }),
      orderBy: { id: 'asc' },
      take: limit + 1,
      ...WITHOUT_SECRETS,
    });
    return toPage(
      records.map((record) => this.view(record)),
      limit,
    );
  }

  /** @throws ApiError `not_found`. */
  async find(id: string): Promise<Webhook> {
    return this.view(await findRecord(this.database, id));
  }

  /** @throws ApiError `invalid_request` if the URL is not allowed. */
  async create(input: CreateWebhookInput, actor: Actor): Promise<WebhookWithSecret> {
    this.requireAllowed(input.url);
    const secret = generateSecret();
    const record = await inTransaction(this.database, async (transaction) => {
      const data = { ...input, secret };
      const created = await transaction.webhookEndpoint.create({ data, ...WITHOUT_SECRETS });
      const event = webhookEvent(actor, 'webhook.created', created, null, auditFields(created));
      await recordAuditEvent(transaction, event);
      return created;
    });
    return { ...this.view(record), secret };
  }

  /**
   * Changes what is given. Disabling gives up what is pending; enabling resumes with the next event.
   *
   * @throws ApiError `not_found`; `invalid_request` if the URL is not allowed.
   */
  async change(id: string, { enabled, ...given }: ChangeWebhookInput, actor: Actor): Promise<Webhook> {
    if (given.url !== undefined) {
      this.requireAllowed(given.url);
    }
    return this.locked(id, async (transaction, old) => {
      const data = { url: given.url ?? old.url, events: given.events ?? old.events };
      await transaction.webhookEndpoint.update({
        where: { id },
        data: { ...data, ...(enabled && { disabledAt: null }) },
      });
      if (enabled === false) {
        await disableEndpoint(transaction, id, new Date(this.clock.now()), 'The webhook was disabled');
      }
      const changed = await findRecord(transaction, id);
      const [before, after] = [auditFields(old), auditFields(changed)];
      if (JSON.stringify(before) !== JSON.stringify(after)) {
        await recordAuditEvent(transaction, webhookEvent(actor, 'webhook.changed', old, before, after));
      }
      return this.view(changed);
    });
  }

  /**
   * Replaces the secret. The old one signs too until the overlap ends.
   *
   * @throws ApiError `not_found`.
   */
  async rotateSecret(id: string, overlapSeconds: number, actor: Actor): Promise<WebhookWithSecret> {
    const secret = generateSecret();
    return this.locked(id, async (transaction, old) => {
      const nowMs = (await readServerTimeMs(transaction)) + this.clock.storeOffsetMs;
      const [before, after] = [
        { previousSecretEndsAt: old.previousSecretEndsAt },
        { previousSecretEndsAt: new Date(nowMs + overlapSeconds * 1000) },
      ];
      await transaction.$executeRaw`
        UPDATE webhook_endpoints
        SET previous_secret = secret, previous_secret_ends_at = ${after.previousSecretEndsAt}, secret = ${secret}
        WHERE id = ${id}::uuid`;
      await recordAuditEvent(transaction, webhookEvent(actor, 'webhook.secret_rotated', old, before, after));
      return { ...this.view({ ...old, ...after }), secret };
    });
  }

  /**
   * Deletes a webhook with its deliveries.
   *
   * @throws ApiError `not_found`.
   */
  async delete(id: string, actor: Actor): Promise<Webhook> {
    return this.locked(id, async (transaction, old) => {
      const after = { url: null, events: null, enabled: null };
      const event = webhookEvent(actor, 'webhook.deleted', old, auditFields(old), after);
      await recordAuditEvent(transaction, event);
      await transaction.webhookEndpoint.delete({ where: { id } });
      return this.view(old);
    });
  }

  /**
   * Queues a test event, whatever events the webhook receives.
   *
   * @throws ApiError `not_found`; `conflict` if the webhook is disabled.
   */
  async test(id: string): Promise<WebhookDelivery> {
    return this.locked(id, async (transaction, webhook) => {
      requireEnabled(webhook);
      const now = new Date(this.clock.now());
      const data = {
        endpointId: id,
        event: TEST_EVENT,
        eventKey: `${TEST_EVENT}:${randomUUID()}`,
        payload: { type: TEST_EVENT, timestamp: now.toISOString(), data: { webhookId: webhook.id } },
        keptUntil: new Date(now.getTime() + KEPT_DAYS * DAY_MS),
      };
      return deliveryView(await transaction.webhookDelivery.create({ data, ...SHOWN_OF_DELIVERY }));
    });
  }

  /**
   * Returns one page of the deliveries of a webhook, newest first.
   *
   * @throws ApiError `not_found`.
   */
  async deliveries(id: string, { limit, cursor, state }: DeliveryQuery): Promise<Page<WebhookDelivery>> {
    await findRecord(this.database, id);
    const records = await this.database.webhookDelivery.findMany({
      where: {
        endpointId: id,
        ...(state !== undefined && { state }),
        ...(cursor !== undefined && {
          createdAt: { lte: cursor.createdAt },
          OR: [{ createdAt: { lt: cursor.createdAt } }, { id: { lt: cursor.id } }],
        }),
      },
      orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
      take: limit + 1,
      ...SHOWN_OF_DELIVERY,
    });
    return toPage(records.map(deliveryView), limit);
  }

  /**
   * Queues a delivery again, for a day of attempts. One that is in flight is not sent beside it.
   *
   * @throws ApiError `not_found`; `conflict` if the webhook is disabled.
   */
  async retry(id: string, deliveryId: string): Promise<WebhookDelivery> {
    return this.locked(id, async (transaction, webhook) => {
      requireEnabled(webhook);
      const where = { id: deliveryId, endpointId: id };
      const now = new Date(await readServerTimeMs(transaction));
      const data = { state: 'pending', attempts: 0, nextAttemptAt: now } as const;
      const [delivery] = isUuid(deliveryId)
        ? await transaction.webhookDelivery.updateManyAndReturn({ where, data, ...SHOWN_OF_DELIVERY })
        : [];
      if (delivery === undefined) {
        throw new ApiError('not_found', `There is no delivery with the id "${deliveryId}" to this webhook.`);
      }
      return deliveryView(delivery);
    });
  }

  /** Runs `work` on a locked webhook, so that concurrent changes are serialized. @throws ApiError `not_found`. */
  private locked<Result>(
    id: string,
    work: (transaction: Prisma.TransactionClient, webhook: WebhookRecord) => Promise<Result>,
  ): Promise<Result> {
    return inTransaction(this.database, async (transaction) => {
      if (isUuid(id)) {
        await transaction.$queryRaw`SELECT 1 FROM webhook_endpoints WHERE id = ${id}::uuid FOR NO KEY UPDATE`;
      }
      return work(transaction, await findRecord(transaction, id));
    });
  }

  private view({ events, disabledAt, previousSecretEndsAt: endsAt, createdAt, ...rest }: WebhookRecord) {
    return {
      ...rest,
      events: events as Webhook['events'],
      enabled: disabledAt === null,
      disabledAt: disabledAt?.toISOString() ?? null,
      previousSecretEndsAt: endsAt !== null && +endsAt > this.clock.now() ? endsAt.toISOString() : null,
      createdAt: createdAt.toISOString(),
    };
  }

  /** @throws ApiError `invalid_request`. A name is resolved, and its address checked, for each delivery. */
  private requireAllowed(url: string): void {
    const { APP_ENV, WEBHOOK_PRIVATE_ADDRESSES } = this.environment;
    const target = new URL(url);
    const address = literalAddress(target);
    if (APP_ENV === 'production' && target.protocol !== 'https:') {
      throw invalidUrl('must begin with https:// in production');
    }
    if (address !== null && !WEBHOOK_PRIVATE_ADDRESSES && !isPublicAddress(address)) {
      throw invalidUrl(`must have a public address, and ${address} is none (WEBHOOK_PRIVATE_ADDRESSES)`);
    }
  }
}

/** @throws ApiError `not_found`. */
async function findRecord(database: Database, id: string): Promise<WebhookRecord> {
  const record = isUuid(id)
    ? await database.webhookEndpoint.findUnique({ where: { id }, ...WITHOUT_SECRETS })
    : null;
  if (record === null) {
    throw new ApiError('not_found', `There is no webhook with the id "${id}".`);
  }
  return record;
}

/** @throws ApiError `conflict`. */
function requireEnabled({ disabledAt }: WebhookRecord): void {
  if (disabledAt !== null) {
    throw new ApiError('conflict', 'The webhook is disabled. Enable it first.');
  }
}

function invalidUrl(fault: string): ApiError {
  return new ApiError('invalid_request', `The request is invalid: url ${fault}.`);
}

function auditFields({ url, events, disabledAt }: WebhookRecord) {
  return { url, events, enabled: disabledAt === null };
}

function deliveryView({
  payload,
  createdAt,
  lastAttemptAt,
  nextAttemptAt,
  ...rest
}: DeliveryRecord): WebhookDelivery {
  return {
    ...rest,
    payload: payload as WebhookDelivery['payload'],
    createdAt: createdAt.toISOString(),
    lastAttemptAt: lastAttemptAt?.toISOString() ?? null,
    nextAttemptAt: nextAttemptAt?.toISOString() ?? null,
  };
}
