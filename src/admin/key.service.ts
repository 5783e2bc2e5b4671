import { Inject, Injectable } from '@nestjs/common';
import { generateApiKey, hashApiKey, keyHints } from '../auth/rules/api-key.js';
import { Clock } from '../settings/clock.js';
import { inTransaction, type Database } from '../database/in-transaction.js';
import { Prisma } from '../database/generated/client.js';
import { PrismaService } from '../database/prisma.service.js';
import { ENVIRONMENT, type Environment } from '../settings/environment.js';
import { ApiError } from '../errors/api-error.js';
import { CounterStore } from '../rate-limit/stores/counter-store.js';
import { quotaIdOf, quotaBucketKey } from '../rate-limit/rules/bucket-key.js';
import { type Actor, type AuditEvent, recordAuditEvent } from './audit.js';
import {
  isKeyId,
  type IssuedKey,
  type Key,
  type CreateKeyInput,
  type KeyState,
  OVERLAP_MAX_SECONDS,
  type ChangePlanInput,
} from './key.schemas.js';
import { type KeyRecord, keyView, effectiveLimits, stateOf, KEY_RELATIONS } from './key.view.js';
import { quotaColumns } from './quota-plan.js';

const DEFAULT_OVERLAP_MS = 24 * 60 * 60 * 1000;
const OVERLAP_MAX_MS = OVERLAP_MAX_SECONDS * 1000;

/** Options for the rotation of a key. */
export interface RotationOptions {
  /** The time for which both keys work, in milliseconds; 24 hours by default. */
  overlapMs?: number | undefined;
  /** When the successor expires; by default, when the old key was to expire. */
  expiresAt?: Date | undefined;
  /** The successor itself; a generated key by default. */
  key?: string | undefined;
}

/** Selects a page of keys: `limit` keys, oldest first, after the id `after`. */
export interface PageOfKeys {
  limit: number;
  after?: string | undefined;
  plan?: string | undefined;
  banned?: boolean | undefined;
  state?: KeyState | undefined;
  /** Only keys whose name contains this text, ignoring case, or whose id or key ends with it. */
  search?: string | undefined;
}

/**
 * Issues, lists, changes and revokes API keys. Each change and its audit event are one transaction. Bans that a response reports are
 * read before the change, so that a failed read leaves nothing changed.
 */
@Injectable()
export class KeyService {
  constructor(
    @Inject(PrismaService) private readonly database: Database,
    @Inject(ENVIRONMENT) private readonly environment: Pick<Environment, 'APP_ENV'>,
    private readonly clock: Clock,
    private readonly counters: CounterStore,
  ) {}

  /** Returns the service in the caller's transaction. */
  within(transaction: Prisma.TransactionClient): KeyService {
    return new KeyService(transaction, this.environment, this.clock, this.counters);
  }

  /**
   * Issues a key with a quota of its own.
   *
   * @param key the key itself; a generated key by default.
   * @throws ApiError `invalid_request` if there is no such plan, if neither the plan nor the input has limits, or if `expiresAt` is in
   *   the past.
   */
  async issue(input: CreateKeyInput, actor: Actor, key = this.newKey()): Promise<IssuedKey> {
    const { name, role = 'client', expiresAt = null } = input;
    this.requireFuture(expiresAt);
    const record = await inTransaction(this.database, async (transaction) => {
      const quota = await quotaColumns(transaction, input);
      const issued = await transaction.apiKey.create({
        data: { name, role, expiresAt, ...storedFields(key), quota: { create: quota } },
        include: KEY_RELATIONS,
      });
      const after = { name, role, ...planFields(issued), expiresAt: isoText(expiresAt) };
      await recordAuditEvent(transaction, keyEvent(actor, 'key.issued', issued, null, after));
      return issued;
    });
    // A new quota has no ban. A query of the counter store might fail, and the key could not be shown again.
    return { ...this.viewWith(record, new Map()), key };
  }

  /** Returns whether this key was ever issued, also if it has expired or was revoked. */
  async exists(key: string): Promise<boolean> {
    const hash = Uint8Array.from(hashApiKey(key));
    return (await this.database.apiKey.findUnique({ where: { hash }, select: { id: true } })) !== null;
  }

  /** @throws ApiError `not_found`. */
  async find(id: string): Promise<Key> {
    return this.view(await findKey(this.database, id));
  }

  async page({
    limit,
    after,
    plan,
    banned,
    state,
    search,
  }: PageOfKeys): Promise<{ keys: Key[]; more: boolean }> {
    const bans = await this.counters.bans();
    const bannedQuotas = [...bans.keys()].flatMap((bucketKey) => quotaIdOf(bucketKey) ?? []);
    // One array, since there may be more banned quotas than a statement may have parameters.
    const isBanned = Prisma.sql`k.quota_id = ANY (${bannedQuotas}::uuid[])`;
    const ids = await this.database.$queryRaw<{ id: string }[]>`
      SELECT k.id FROM api_keys k JOIN quotas q ON q.id = k.quota_id
      WHERE true
        ${after === undefined ? Prisma.empty : Prisma.sql`AND k.id > ${after}::uuid`}
        ${plan === undefined ? Prisma.empty : Prisma.sql`AND q.plan = ${plan}`}
        ${banned === undefined ? Prisma.empty : Prisma.sql`AND ${isBanned} = ${banned}`}
        ${state === undefined ? Prisma.empty : Prisma.sql`AND ${stateAt(this.clock.now())} = ${state}`}
        ${search === undefined ? Prisma.empty : Prisma.sql`AND ${matches(search)}`}
      ORDER BY k.id
      LIMIT ${limit + 1}`;
    const records = await this.database.apiKey.findMany({
      where: { id: { in: ids.map(({ id }) => id) } },
      include: KEY_RELATIONS,
      orderBy: { id: 'asc' },
    });
    const keys = records.slice(0, limit).map((record) => this.viewWith(record, bans));
    return { keys, more: ids.length > limit };
  }

  /**
   * Issues a successor on the same quota. Both keys work until the overlap ends, though the old key never works past its own expiry.
   *
   * @throws ApiError `not_found`; `conflict` if the key is revoked, expired or already rotated; `invalid_request` if `expiresAt` is in
   *   the past or the overlap exceeds a year.
   */
  async rotate(id: string, options: RotationOptions, actor: Actor): Promise<IssuedKey> {
    const { overlapMs = DEFAULT_OVERLAP_MS, key = this.newKey() } = options;
    if (overlapMs > OVERLAP_MAX_MS) {
      throw new ApiError('invalid_request', 'The overlap must be 365 days at the most.');
    }
    this.requireFuture(options.expiresAt ?? null);
    const bans = await this.counters.bans();
    const record = await inTransaction(this.database, async (transaction) => {
      const old = await lockKey(transaction, id);
      this.requireRotatable(old);
      const expiresAt = options.expiresAt ?? old.expiresAt;
      const overlapEnd = new Date(this.clock.now() + overlapMs);
      const endsAt = old.expiresAt !== null && old.expiresAt < overlapEnd ? old.expiresAt : overlapEnd;
      const { name, role, quotaId } = old;
      await transaction.apiKey.update({ where: { id }, data: { expiresAt: endsAt } });
      const successor = await transaction.apiKey.create({
        data: { name, role, quotaId, expiresAt, predecessorId: id, ...storedFields(key) },
        include: KEY_RELATIONS,
      });
      const before = { expiresAt: isoText(old.expiresAt), successorId: null };
      const after = {
        expiresAt: isoText(endsAt),
        successorId: successor.id,
        successorExpiresAt: isoText(expiresAt),
      };
      await recordAuditEvent(transaction, keyEvent(actor, 'key.rotated', old, before, after));
      return successor;
    });
    return { ...this.viewWith(record, bans), key };
  }

  /**
   * Revokes a key immediately and permanently. A second revocation changes nothing.
   *
   * @throws ApiError `not_found`.
   */
  async revoke(id: string, actor: Actor): Promise<Key> {
    const bans = await this.counters.bans();
    const record = await inTransaction(this.database, async (transaction) => {
      const old = await lockKey(transaction, id);
      if (old.revokedAt !== null) {
        return old;
      }
      const revokedAt = new Date(this.clock.now());
      const revoked = await transaction.apiKey.update({
        where: { id },
        data: { revokedAt },
        include: KEY_RELATIONS,
      });
      const after = { revokedAt: isoText(revokedAt) };
      await recordAuditEvent(transaction, keyEvent(actor, 'key.revoked', old, { revokedAt: null }, after));
      return revoked;
    });
    return this.viewWith(record, bans);
  }

  /**
   * Changes when a key expires; null for never.
   *
   * @throws ApiError `not_found`; `invalid_request` if `expiresAt` is in the past.
   */
  async changeExpiry(id: string, expiresAt: Date | null, actor: Actor): Promise<void> {
    this.requireFuture(expiresAt);
    await inTransaction(this.database, async (transaction) => {
      const old = await lockKey(transaction, id);
      await transaction.apiKey.update({ where: { id }, data: { expiresAt } });
      const [before, after] = [{ expiresAt: isoText(old.expiresAt) }, { expiresAt: isoText(expiresAt) }];
      await recordAuditEvent(transaction, keyEvent(actor, 'key.expiry_changed', old, before, after));
    });
  }

  /**
   * Puts a key's quota on a plan, with limits of its own or those of the plan. The counts of the current windows are kept.
   *
   * @throws ApiError `not_found`; `invalid_request` if there is no such plan, or if neither the plan nor the input has limits.
   */
  async changePlan(id: string, input: ChangePlanInput, actor: Actor): Promise<Key> {
    const bans = await this.counters.bans();
    const record = await inTransaction(this.database, async (transaction) => {
      const old = await lockKey(transaction, id);
      const data = await quotaColumns(transaction, input);
      await transaction.quota.update({ where: { id: old.quotaId }, data });
      const changed = await findKey(transaction, id);
      const [before, after] = [planFields(old), planFields(changed)];
      if (JSON.stringify(before) !== JSON.stringify(after)) {
        await recordAuditEvent(transaction, keyEvent(actor, 'key.plan_changed', old, before, after));
      }
      return changed;
    });
    return this.viewWith(record, bans);
  }

  /**
   * Ends the ban of a key's quota immediately. Without a ban, nothing changes.
   *
   * @throws ApiError `not_found`.
   */
  async unban(id: string, actor: Actor): Promise<Key> {
    const record = await inTransaction(this.database, async (transaction) => {
      const locked = await lockKey(transaction, id);
      const bucketKey = quotaBucketKey(locked.quotaId);
      const bannedUntil = (await this.counters.bans()).get(bucketKey);
      if (bannedUntil !== undefined) {
        const before = { bannedUntil: isoText(bannedUntil) };
        await recordAuditEvent(
          transaction,
          keyEvent(actor, 'key.unbanned', locked, before, { bannedUntil: null }),
        );
        // Last, as the counter store is not part of this transaction: if the event cannot be recorded, the ban stays.
        await this.counters.liftBan(bucketKey);
      }
      return locked;
    });
    // No ban is left. Another query of the counter store might fail, although the ban is lifted.
    return this.viewWith(record, new Map());
  }

  private newKey(): string {
    return generateApiKey(this.environment.APP_ENV);
  }

  private async view(record: KeyRecord): Promise<Key> {
    return this.viewWith(record, await this.counters.bans());
  }

  private viewWith(record: KeyRecord, bans: Map<string, Date>): Key {
    return keyView(record, bans.get(quotaBucketKey(record.quotaId)) ?? null, this.clock.now());
  }

  private requireFuture(expiresAt: Date | null): void {
    if (expiresAt !== null && expiresAt.getTime() <= this.clock.now()) {
      throw new ApiError('invalid_request', 'The request is invalid: expiresAt must be in the future.');
    }
  }

  private requireRotatable(key: KeyRecord): void {
    const state = stateOf(key, this.clock.now());
    if (state === 'revoked' || state === 'expired') {
      throw new ApiError('conflict', `The key is ${state}, so it cannot be rotated. Issue a new one.`);
    }
    if (key.successor !== null) {
      const message = `The key was rotated already. Rotate its successor ${key.successor.id}.`;
      throw new ApiError('conflict', message);
    }
  }
}

/** Returns the SQL of `stateOf` for the key `k` at `nowMs`. */
function stateAt(nowMs: number): Prisma.Sql {
  return Prisma.sql`CASE
    WHEN k.revoked_at IS NOT NULL THEN 'revoked'
    WHEN k.expires_at <= ${new Date(nowMs)} THEN 'expired'
    WHEN EXISTS (SELECT FROM api_keys successor WHERE successor.predecessor_id = k.id) THEN 'rotating'
    ELSE 'active'
  END`;
}

/** Returns the condition that the key `k` matches a search. */
function matches(search: string): Prisma.Sql {
  return Prisma.sql`(
    strpos(lower(k.name), lower(${search})) > 0
    OR right(k.id::text, ${search.length}::int) = lower(${search})
    OR right(k.last_four, ${search.length}::int) = ${search}
  )`;
}

/** Returns the columns that are stored of a key. */
function storedFields(key: string) {
  return { hash: Uint8Array.from(hashApiKey(key)), ...keyHints(key) };
}

async function findKey(database: Database, id: string): Promise<KeyRecord> {
  const record = isKeyId(id)
    ? await database.apiKey.findUnique({ where: { id }, include: KEY_RELATIONS })
    : null;
  if (record === null) {
    throw new ApiError('not_found', `There is no key with the id "${id}".`);
  }
  return record;
}

/** Returns the key after locking it and its quota, so that concurrent changes are serialized. */
async function lockKey(transaction: Prisma.TransactionClient, id: string): Promise<KeyRecord> {
  if (isKeyId(id)) {
    await transaction.$queryRaw`
      SELECT 1 FROM api_keys k JOIN quotas q ON q.id = k.quota_id WHERE k.id = ${id}::uuid FOR NO KEY UPDATE`;
  }
  return findKey(transaction, id);
}

function planFields({ quota }: KeyRecord) {
  return { plan: quota.planName, ...effectiveLimits(quota), ownLimits: quota.perMinute !== null };
}

function keyEvent(
  actor: Actor,
  action: AuditEvent['action'],
  { id }: KeyRecord,
  before: AuditEvent['before'],
  after: AuditEvent['after'],
): AuditEvent {
  return { actor, action, subject: `key:${id}`, before, after };
}

function isoText(instant: Date | null): string | null {
  return instant?.toISOString() ?? null;
}
