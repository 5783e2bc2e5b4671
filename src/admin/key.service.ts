import { Inject, Injectable } from '@nestjs/common';
import { generateApiKey, hashApiKey, keyHints } from '../auth/api-key.js';
import { Clock } from '../clock.js';
import { inTransaction, type Database } from '../database/in-transaction.js';
import { Prisma } from '../database/generated/client.js';
import { PrismaService } from '../database/prisma.service.js';
import { ENVIRONMENT, type Environment } from '../environment.js';
import { ApiError } from '../errors/api-error.js';
import { CounterStore } from '../rate-limit/stores/counter-store.js';
import { quotaIdOf, quotaBucketKey } from '../rate-limit/rules/bucket-key.js';
import { type Actor, type Deed, writeDown } from './audit.js';
import {
  isKeyId,
  type IssuedKey,
  type Key,
  type KeyOrder,
  type KeyState,
  OVERLAP_MAX_SECONDS,
  type PlanChange,
} from './key.schemas.js';
import { type KeyRecord, keyView, limitsInForce, stateOf, WHOLE } from './key.view.js';
import { planForQuota } from './plan-of-quota.js';

const DEFAULT_OVERLAP_MS = 24 * 60 * 60 * 1000;
const OVERLAP_MAX_MS = OVERLAP_MAX_SECONDS * 1000;

/** How a key is succeeded. */
export interface RotationOrder {
  /** How long both keys work, in milliseconds; 24 hours when not given. */
  overlapMs?: number | undefined;
  /** When the successor expires; when not given, as the old key was to. */
  expiresAt?: Date | undefined;
  /** The successor itself, where it is given from outside; else a new one is made. */
  key?: string | undefined;
}

/** Which keys a page shows: `limit` of them, oldest first, after the one of the id `after`. */
export interface PageOfKeys {
  limit: number;
  after?: string | undefined;
  plan?: string | undefined;
  banned?: boolean | undefined;
  state?: KeyState | undefined;
  /** Only keys whose name has this text, in any case, or whose id or key ends with it. */
  search?: string | undefined;
}

/**
 * Issues, shows and takes back API keys. Each deed and its line in the audit are one transaction. Bans of which its answer tells
 * are asked for before a deed is done: one that fails was not done.
 */
@Injectable()
export class KeyService {
  constructor(
    @Inject(PrismaService) private readonly database: Database,
    @Inject(ENVIRONMENT) private readonly environment: Pick<Environment, 'APP_ENV'>,
    private readonly clock: Clock,
    private readonly counters: CounterStore,
  ) {}

  /** The same service, within a transaction that somebody else ends. */
  within(transaction: Prisma.TransactionClient): KeyService {
    return new KeyService(transaction, this.environment, this.clock, this.counters);
  }

  /**
   * Issues a key, on a quota of its own.
   *
   * @param key the key itself, where it is given from outside; else a new one is made.
   * @throws ApiError `invalid_request` when there is no such plan, when it has no numbers and none are given, or when
   *   the key would be expired at once.
   */
  async issue(order: KeyOrder, actor: Actor, key = this.newKey()): Promise<IssuedKey> {
    const { name, role = 'client', expiresAt = null } = order;
    this.refuseThePast(expiresAt);
    const record = await inTransaction(this.database, async (transaction) => {
      const quota = await planForQuota(transaction, order);
      const issued = await transaction.apiKey.create({
        data: { name, role, expiresAt, ...stored(key), quota: { create: quota } },
        include: WHOLE,
      });
      const after = { name, role, ...planFacts(issued), expiresAt: textOf(expiresAt) };
      await writeDown(transaction, deed(actor, 'key.issued', issued, null, after));
      return issued;
    });
    // A new quota has no ban. The counters are not asked: the key must be shown, now that it is issued.
    return { ...this.viewWith(record, new Map()), key };
  }

  /** Whether this very key was issued, whatever became of it. */
  async knows(key: string): Promise<boolean> {
    const hash = Uint8Array.from(hashApiKey(key));
    return (await this.database.apiKey.findUnique({ where: { hash }, select: { id: true } })) !== null;
  }

  /** @throws ApiError `not_found`. */
  async find(id: string): Promise<Key> {
    return this.view(await findRecord(this.database, id));
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
    const bannedQuotas = [...bans.keys()].flatMap((subject) => quotaIdOf(subject) ?? []);
    // As one array, since there may be more banned quotas than a statement may have parameters.
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
      include: WHOLE,
      orderBy: { id: 'asc' },
    });
    const keys = records.slice(0, limit).map((record) => this.viewWith(record, bans));
    return { keys, more: ids.length > limit };
  }

  /**
   * Issues a successor on the same quota. Both keys work until the overlap ends, the old one never longer than it was
   * to anyway.
   *
   * @throws ApiError `not_found`; `conflict` when the key is revoked, expired or succeeded already; `invalid_request`
   *   when the successor would be expired at once.
   */
  async rotate(id: string, order: RotationOrder, actor: Actor): Promise<IssuedKey> {
    const { overlapMs = DEFAULT_OVERLAP_MS, key = this.newKey() } = order;
    if (overlapMs > OVERLAP_MAX_MS) {
      throw new ApiError('invalid_request', 'The overlap must be 365 days at the most.');
    }
    this.refuseThePast(order.expiresAt ?? null);
    const bans = await this.counters.bans();
    const record = await inTransaction(this.database, async (transaction) => {
      const old = await lockRecord(transaction, id);
      this.refuseRotation(old);
      const expiresAt = order.expiresAt ?? old.expiresAt;
      const overlapEnd = new Date(this.clock.now() + overlapMs);
      const endsAt = old.expiresAt !== null && old.expiresAt < overlapEnd ? old.expiresAt : overlapEnd;
      const { name, role, quotaId } = old;
      await transaction.apiKey.update({ where: { id }, data: { expiresAt: endsAt } });
      const successor = await transaction.apiKey.create({
        data: { name, role, quotaId, expiresAt, predecessorId: id, ...stored(key) },
        include: WHOLE,
      });
      const before = { expiresAt: textOf(old.expiresAt), successorId: null };
      const after = {
        expiresAt: textOf(endsAt),
        successorId: successor.id,
        successorExpiresAt: textOf(expiresAt),
      };
      await writeDown(transaction, deed(actor, 'key.rotated', old, before, after));
      return successor;
    });
    return { ...this.viewWith(record, bans), key };
  }

  /**
   * Takes a key back, at once and for good. Again is no fault, and changes nothing.
   *
   * @throws ApiError `not_found`.
   */
  async revoke(id: string, actor: Actor): Promise<Key> {
    const bans = await this.counters.bans();
    const record = await inTransaction(this.database, async (transaction) => {
      const old = await lockRecord(transaction, id);
      if (old.revokedAt !== null) {
        return old;
      }
      const revokedAt = new Date(this.clock.now());
      const revoked = await transaction.apiKey.update({ where: { id }, data: { revokedAt }, include: WHOLE });
      const after = { revokedAt: textOf(revokedAt) };
      await writeDown(transaction, deed(actor, 'key.revoked', old, { revokedAt: null }, after));
      return revoked;
    });
    return this.viewWith(record, bans);
  }

  /**
   * Changes when a key expires; null for never.
   *
   * @throws ApiError `not_found`; `invalid_request` for an instant that is over.
   */
  async changeExpiry(id: string, expiresAt: Date | null, actor: Actor): Promise<void> {
    this.refuseThePast(expiresAt);
    await inTransaction(this.database, async (transaction) => {
      const old = await lockRecord(transaction, id);
      await transaction.apiKey.update({ where: { id }, data: { expiresAt } });
      const [before, after] = [{ expiresAt: textOf(old.expiresAt) }, { expiresAt: textOf(expiresAt) }];
      await writeDown(transaction, deed(actor, 'key.expiry_changed', old, before, after));
    });
  }

  /**
   * Puts a key's quota on a plan, with numbers of its own or with the plan's. What was counted stays counted.
   *
   * @throws ApiError `not_found`; `invalid_request` when there is no such plan, or it has no numbers and none are given.
   */
  async changePlan(id: string, change: PlanChange, actor: Actor): Promise<Key> {
    const bans = await this.counters.bans();
    const record = await inTransaction(this.database, async (transaction) => {
      const old = await lockRecord(transaction, id);
      const data = await planForQuota(transaction, change);
      await transaction.quota.update({ where: { id: old.quotaId }, data });
      const changed = await findRecord(transaction, id);
      const [before, after] = [planFacts(old), planFacts(changed)];
      if (JSON.stringify(before) !== JSON.stringify(after)) {
        await writeDown(transaction, deed(actor, 'key.plan_changed', old, before, after));
      }
      return changed;
    });
    return this.viewWith(record, bans);
  }

  /**
   * Ends the ban of a key's quota at once. Where there is none, that is no fault, and nothing changes.
   *
   * @throws ApiError `not_found`.
   */
  async unban(id: string, actor: Actor): Promise<Key> {
    const record = await inTransaction(this.database, async (transaction) => {
      const locked = await lockRecord(transaction, id);
      const subject = quotaBucketKey(locked.quotaId);
      const bannedUntil = (await this.counters.bans()).get(subject);
      if (bannedUntil !== undefined) {
        const before = { bannedUntil: textOf(bannedUntil) };
        await writeDown(transaction, deed(actor, 'key.unbanned', locked, before, { bannedUntil: null }));
        // Last, as the store is none of this transaction: what could not be written down is not done.
        await this.counters.liftBan(subject);
      }
      return locked;
    });
    // None is left, and the counters are not asked again: what was done must be answered.
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

  private refuseThePast(expiresAt: Date | null): void {
    if (expiresAt !== null && expiresAt.getTime() <= this.clock.now()) {
      throw new ApiError('invalid_request', 'The request is invalid: expiresAt must be in the future.');
    }
  }

  private refuseRotation(key: KeyRecord): void {
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

/** Returns the state of the key `k` at `nowMs`, as `stateOf` does. */
function stateAt(nowMs: number): Prisma.Sql {
  return Prisma.sql`CASE
    WHEN k.revoked_at IS NOT NULL THEN 'revoked'
    WHEN k.expires_at <= ${new Date(nowMs)} THEN 'expired'
    WHEN EXISTS (SELECT FROM api_keys successor WHERE successor.predecessor_id = k.id) THEN 'rotating'
    ELSE 'active'
  END`;
}

/** Returns whether the key `k` is one that a person searches for by this text. */
function matches(search: string): Prisma.Sql {
  return Prisma.sql`(
    strpos(lower(k.name), lower(${search})) > 0
    OR right(k.id::text, ${search.length}::int) = lower(${search})
    OR right(k.last_four, ${search.length}::int) = ${search}
  )`;
}

/** What is kept of a key. */
function stored(key: string) {
  return { hash: Uint8Array.from(hashApiKey(key)), ...keyHints(key) };
}

async function findRecord(database: Database, id: string): Promise<KeyRecord> {
  const record = isKeyId(id) ? await database.apiKey.findUnique({ where: { id }, include: WHOLE }) : null;
  if (record === null) {
    throw new ApiError('not_found', `There is no key with the id "${id}".`);
  }
  return record;
}

/** The key's record, with its key and quota locked: two deeds on them at once take turns. */
async function lockRecord(transaction: Prisma.TransactionClient, id: string): Promise<KeyRecord> {
  if (isKeyId(id)) {
    await transaction.$queryRaw`
      SELECT 1 FROM api_keys k JOIN quotas q ON q.id = k.quota_id WHERE k.id = ${id}::uuid FOR NO KEY UPDATE`;
  }
  return findRecord(transaction, id);
}

function planFacts({ quota }: KeyRecord) {
  return { plan: quota.planName, ...limitsInForce(quota), ownLimits: quota.perMinute !== null };
}

function deed(
  actor: Actor,
  action: Deed['action'],
  { id }: KeyRecord,
  before: Deed['before'],
  after: Deed['after'],
): Deed {
  return { actor, action, subject: `key:${id}`, before, after };
}

function textOf(instant: Date | null): string | null {
  return instant?.toISOString() ?? null;
}
