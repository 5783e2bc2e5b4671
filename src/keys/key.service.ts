import { isDeepStrictEqual } from 'node:util';
import { Inject, Injectable } from '@nestjs/common';
import { whereLive } from '../auth/key-validity.js';
import { generateApiKey } from '../auth/rules/api-key.js';
import { type Database, inTransaction } from '../database/access/in-transaction.js';
import { readServerTimeMs } from '../database/access/server-time.js';
import type { Prisma } from '../database/generated/client.js';
import { PrismaService } from '../database/access/prisma.service.js';
import { ENVIRONMENT, type Environment } from '../process/settings/environment.js';
import { ApiError } from '../http/routes/api-error.js';
import type { KeyRole } from '../auth/rules/role.js';
import { type Scope, scopesForRole } from '../auth/rules/scope.js';
import { quotaBucketKey } from '../rate-limit/rules/bucket-key.js';
import { FallbackCounterStore } from '../rate-limit/stores/fallback-counter-store.js';
import { queueKeyEvent } from '../webhooks/queue-events.js';
import { type Actor, recordAuditEvent } from '../audit/audit.js';
import {
  createKey,
  findDerivedKeys,
  findIdByKey,
  findIssuedKeys,
  findKey,
  findKeys,
  lockKey,
  readLine,
  removeFromLine,
  requireRoomForKey,
  storedFields,
  wasUsed,
  writeRestrictions,
} from './key.repository.js';
import type {
  CreateKeyInput,
  IssuedKey,
  Key,
  KeySuccessor,
  RotateKeyInput,
  UpdateKeyInput,
} from './key.schemas.js';
import { keyEnd, keyInvalidity, type KeyRecord, keyView } from './key.view.js';
import { findQuota, lockQuotaId, quotaColumns } from './quota.repository.js';
import { quotaFields } from './quota.view.js';
import { narrow, type Restrictions } from './rules/further-key.js';
import { earliest, latestExpiry } from './rules/key-lifetime.js';

const OVERLAP_DEFAULT_SECONDS = 24 * 60 * 60;

type LifetimePlan = Pick<KeyRecord['quota']['plan'], 'name' | 'maxKeyLifetimeDays'>;
type New = Pick<KeySuccessor, 'key' | 'overlapEndsAt'>;

/** The key that a change returns, and what its response has besides. */
interface Changed<More> {
  record: KeyRecord;
  more: More;
}

/** Issues, changes, suspends and revokes API keys. Each change and its audit event are one transaction. */
@Injectable()
export class KeyService {
  constructor(
    @Inject(PrismaService) private readonly database: Database,
    @Inject(ENVIRONMENT) private readonly environment: Pick<Environment, 'APP_ENV'>,
    private readonly counters: FallbackCounterStore,
  ) {}

  /** Returns the service in the caller's transaction. */
  within(transaction: Prisma.TransactionClient): KeyService {
    return new KeyService(transaction, this.environment, this.counters);
  }

  /**
   * Issues a key with a quota of its own, or on the quota `quotaId`.
   *
   * @param input with `issuerId`, the key of the quota by which a holder issues it.
   * @param key the key itself; a generated key by default.
   * @throws ApiError `invalid_request` if there is no such plan or quota, if neither the plan nor the input
   *   has limits, or if `expiresAt` is in the past, or past the longest life of a key on the plan; `conflict`
   *   if the quota has as many keys as it may.
   */
  async issue(
    input: CreateKeyInput & { issuerId?: string },
    actor: Actor,
    key = this.newKey(),
  ): Promise<IssuedKey> {
    const { name, note = null, role = 'client', issuerId = null } = input;
    const { scopes = null, allowedNetworks = null } = input;
    await requireFuture(this.database, input.expiresAt ?? null);
    requireWithinRole(role, scopes);
    return inTransaction(this.database, async (transaction) => {
      const { quotaId, bannedUntil } = await this.createOrLockQuota(transaction, input);
      const { plan } = await findQuota(transaction, quotaId);
      const expiresAt = requireWithinLifetime(plan, input.expiresAt, await readServerTimeMs(transaction));
      const fields = { name, note, role, expiresAt, quotaId, issuerId, ...storedFields(key) };
      const record = await createKey(transaction, fields, { scopes, allowedNetworks });
      const { externalId, ...limits } = quotaFields(record.quota);
      const label = { name, ...(note !== null && { note }), ...(externalId !== null && { externalId }) };
      const after = { ...label, role, ...limits, scopes, allowedNetworks, expiresAt };
      await recordAuditEvent(transaction, actor, 'key.issued', record, null, after);
      return { ...keyView(record, bannedUntil, await readServerTimeMs(transaction)), key };
    });
  }

  /** Returns whether this key was ever issued, even if it has expired or was revoked. */
  async exists(key: string): Promise<boolean> {
    return (await findIdByKey(this.database, key)) !== null;
  }

  /** @throws ApiError `not_found`. */
  async find(id: string): Promise<Key> {
    const record = await findKey(this.database, id);
    const bannedUntil = await this.counters.findBanEnd(quotaBucketKey(record.quotaId));
    return keyView(record, bannedUntil, await readServerTimeMs(this.database));
  }

  /**
   * Issues a successor on the same quota. Both keys work until the overlap ends, though the old key never
   * works past its own expiry, and not while it is suspended. A successor that was never used is replaced,
   * because its response was lost.
   *
   * @param maxPerDay the successors that keys of its line may get in the UTC day, this one included; given if
   *   the holder rotates the key.
   * @throws ApiError `not_found`; `conflict` if the key is revoked, expired, or rotated too often, if its
   *   successor was used, or if the quota has as many keys as it may; `invalid_request` if `expiresAt` is in
   *   the past, or past the longest life of a key on the plan.
   */
  async rotate(id: string, input: RotateKeyInput, actor: Actor, maxPerDay = Infinity): Promise<KeySuccessor> {
    const { overlapSeconds = OVERLAP_DEFAULT_SECONDS, expiresAt } = input;
    await requireFuture(this.database, expiresAt ?? null);
    const check = async (database: Database, old: KeyRecord, nowMs: number) => {
      const replaced = await requireRotatable(database, old, nowMs, maxPerDay);
      // Without an overlap, the successor takes the room of the old key; or that of the one that it replaces.
      if (overlapSeconds > 0 && (replaced === null || keyEnd(replaced, nowMs) !== null)) {
        await requireRoomForKey(database, old.quotaId, nowMs);
      }
      return replaced;
    };
    // What will be denied need not wait for the lock.
    const known = await findKey(this.database, id);
    await check(this.database, known, await readServerTimeMs(this.database));
    const key = this.newKey();
    return this.change(id, async (transaction, old, nowMs) => {
      if (old.successor !== null && old.successor.id !== known.successor?.id) {
        // Another request rotated the key meanwhile: this one does not repeat it.
        throw rotatedAlready(old.successor);
      }
      const replaced = await check(transaction, old, nowMs);
      const endsAt = earliest(old.expiresAt, new Date(nowMs + overlapSeconds * 1000));
      const given = requireWithinLifetime(old.quota.plan, expiresAt, nowMs);
      const expiryOf = (inherited: Date | null) =>
        expiresAt === undefined ? earliest(inherited, given) : given;
      if (replaced === null) {
        const own = { key, expiresAt: expiryOf(old.expiresAt), restrictions: old };
        return succeed(transaction, old, endsAt, nowMs, own, actor);
      }
      if (!(await removeFromLine(transaction, replaced.id))) {
        throw rotatedAlready(replaced);
      }
      await revokeRecord(transaction, replaced, actor, nowMs);
      // The old key has expired since by the end of its overlap; its own expiry is that of its successor.
      const own = { key, expiresAt: expiryOf(replaced.expiresAt), restrictions: narrow(replaced, old) };
      return succeed(
        transaction,
        { ...old, name: replaced.name, note: replaced.note },
        endsAt,
        nowMs,
        own,
        actor,
      );
    });
  }

  /**
   * Revokes a leaked key with all that is derived from it, and issues a successor of the newest key of its
   * line: a thief may have rotated it.
   *
   * @param maxPerDay the successors that keys of its line may get in the UTC day, this one included.
   * @throws ApiError `not_found`; `conflict` if no successor was issued, because the line had so many, or has
   *   ended. The keys are revoked all the same.
   */
  async replaceLeaked(id: string, actor: Actor, maxPerDay: number): Promise<KeySuccessor> {
    const key = this.newKey();
    const result = await this.change<New | { reason: string }>(id, async (transaction, old, nowMs) => {
      const { newestId = id, successorsToday } = await readLine(transaction, old, nowMs);
      const newest = newestId === id ? old : await findKey(transaction, newestId);
      const record = await revokeRecords(transaction, old, actor, nowMs);
      if (keyEnd(old, nowMs) !== null || keyEnd(newest, nowMs) !== null) {
        return { record, more: { reason: 'it, or its newest successor, had ended before' } };
      }
      if (old.suspendedAt !== null || newest.suspendedAt !== null) {
        return { record, more: { reason: 'it, or its newest successor, was suspended' } };
      }
      if (successorsToday >= maxPerDay) {
        const times = `${maxPerDay} times today, with its predecessors and successors`;
        return { record, more: { reason: `it was rotated ${times}` } };
      }
      // The thief of a key in its overlap must not get more, or for longer, than that key has.
      const inherited = earliest(newest.expiresAt, old.expiresAt);
      const expiresAt = earliest(inherited, latestExpiry(old.quota.plan.maxKeyLifetimeDays, nowMs));
      const own = { key, expiresAt, restrictions: narrow(newest, old) };
      return succeed(transaction, newest, new Date(nowMs), nowMs, own, actor);
    });
    if ('reason' in result) {
      const message =
        'Your key was revoked, with its successors and the keys that were issued by any of them. ' +
        `There is no new key, because ${result.reason}. Ask an administrator for one.`;
      throw new ApiError('conflict', message);
    }
    return result;
  }

  /**
   * Revokes a key immediately and permanently. A second revocation changes nothing.
   *
   * @param withDerived revokes all that is derived from it too, even if the key has ended already: its thief
   *   may have rotated it, or issued others.
   * @throws ApiError `not_found`.
   */
  async revoke(id: string, actor: Actor, { withDerived = false } = {}): Promise<Key> {
    return this.change(id, async (transaction, old, nowMs) => {
      const revokeAll = withDerived ? revokeRecords : revokeRecord;
      return { record: await revokeAll(transaction, old, actor, nowMs), more: {} };
    });
  }

  /**
   * Revokes the live keys of a quota in the transaction that erases its customer, and returns how many. A
   * quota has few of them, but may have thousands that expired.
   *
   * @param quotaId the id of a locked quota.
   */
  static async revokeAll(transaction: Prisma.TransactionClient, quotaId: string, actor: Actor) {
    const nowMs = await readServerTimeMs(transaction);
    const keys = await findKeys(transaction, { where: { quotaId, ...whereLive(nowMs) } });
    for (const key of keys) {
      await revokeRecord(transaction, key, actor, nowMs);
    }
    return keys.length;
  }

  /**
   * Returns the id of a key, for an administrator who has only the key itself.
   *
   * @throws ApiError `not_found`.
   */
  async findId(key: string): Promise<string> {
    const id = await findIdByKey(this.database, key);
    if (id === null) {
      throw new ApiError('not_found', 'This key was never issued here. Check that it was copied whole.');
    }
    return id;
  }

  /**
   * Changes the name of a key, the note on it, what it may do, and from where, and suspends or resumes it.
   * What is undefined stays, and null removes the note or a restriction. A restriction also applies to what
   * the key and its predecessors issued; a suspension does not.
   *
   * @throws ApiError `not_found`; `invalid_request` if the role of the key does not include one of the
   *   scopes; `conflict` if a key that has ended is to be suspended or resumed.
   */
  async update(id: string, { suspended, ...input }: UpdateKeyInput, actor: Actor): Promise<Key> {
    return this.change(id, async (transaction, old, nowMs) => {
      requireWithinRole(old.role as KeyRole, input.scopes ?? null);
      const updated = await updateRecord(transaction, old, input, actor);
      if (input.scopes !== undefined || input.allowedNetworks !== undefined) {
        for (const issued of await findIssuedKeys(transaction, old, nowMs)) {
          await updateRecord(transaction, issued, narrow(issued, updated), actor);
        }
      }
      const record =
        suspended === undefined ? updated : await setSuspended(transaction, updated, suspended, actor, nowMs);
      return { record, more: {} };
    });
  }

  /** Creates the quota of a new key, or locks the quota `quotaId`. Returns when its ban ends, too. */
  private async createOrLockQuota(transaction: Prisma.TransactionClient, input: CreateKeyInput) {
    const { quotaId } = input;
    if (quotaId === undefined) {
      const { id } = await transaction.quota.create({ data: await quotaColumns(transaction, input) });
      // It has no ban. A query of the counter store might fail.
      return { quotaId: id, bannedUntil: null };
    }
    const id = await lockQuotaId(transaction, quotaId);
    if (id === null) {
      const message = `The request is invalid: quotaId: no quota has the id ${quotaId}.`;
      throw new ApiError('invalid_request', message);
    }
    await requireRoomForKey(transaction, id, await readServerTimeMs(transaction));
    return { quotaId: id, bannedUntil: await this.counters.findBanEnd(quotaBucketKey(id)) };
  }

  private newKey(): string {
    return generateApiKey(this.environment.APP_ENV);
  }

  /** Runs `change` on a locked key in one transaction. Returns the key as it is shown, and `more` of it. */
  private change<More extends object>(
    id: string,
    change: (tx: Prisma.TransactionClient, old: KeyRecord, nowMs: number) => Promise<Changed<More>>,
  ): Promise<Key & More> {
    return inTransaction(this.database, async (transaction) => {
      const old = await lockKey(transaction, id);
      // The ban is read first, because the change is undone if it cannot be read.
      const bannedUntil = await this.counters.findBanEnd(quotaBucketKey(old.quotaId));
      const nowMs = await readServerTimeMs(transaction);
      const { record, more } = await change(transaction, old, nowMs);
      return { ...keyView(record, bannedUntil, nowMs), ...more };
    });
  }
}

/** @throws ApiError `invalid_request` for a time that is past for the database. */
async function requireFuture(database: Database, expiresAt: Date | null): Promise<void> {
  if (expiresAt !== null && expiresAt.getTime() <= (await readServerTimeMs(database))) {
    throw new ApiError('invalid_request', 'The request is invalid: expiresAt must be in the future.');
  }
}

/**
 * Returns the expiry of a key that is issued on a plan: the given one, else the last that the plan allows, if
 * any.
 *
 * @throws ApiError `invalid_request` for a later one.
 */
function requireWithinLifetime(plan: LifetimePlan, expiresAt: Date | undefined, nowMs: number): Date | null {
  const latest = latestExpiry(plan.maxKeyLifetimeDays, nowMs);
  if (latest !== null && expiresAt !== undefined && expiresAt > latest) {
    const message =
      `The request is invalid: expiresAt must not be after ${latest.toISOString()}, because a key on plan ` +
      `${plan.name} lives at most ${plan.maxKeyLifetimeDays} days.`;
    throw new ApiError('invalid_request', message);
  }
  return expiresAt ?? latest;
}

/** @throws ApiError `invalid_request` if the role does not include one of the scopes. */
function requireWithinRole(role: KeyRole, scopes: readonly Scope[] | null): void {
  if (scopes !== null && !scopes.every((scope) => scopesForRole(role).includes(scope))) {
    const message =
      'The request is invalid: scopes must have no scope of administration, unless the role of the key ' +
      'is admin.';
    throw new ApiError('invalid_request', message);
  }
}

const CHANGEABLE = ['name', 'note', 'scopes', 'allowedNetworks'] as const;

/** Changes a key, records the fields that differ, if any, and returns it. */
async function updateRecord(
  transaction: Prisma.TransactionClient,
  old: KeyRecord,
  input: UpdateKeyInput,
  actor: Actor,
): Promise<KeyRecord> {
  const names = CHANGEABLE.filter(
    (name) => input[name] !== undefined && !isDeepStrictEqual(old[name], input[name]),
  );
  const pick = (fields: UpdateKeyInput) => Object.fromEntries(names.map((name) => [name, fields[name]]));
  const changed = { ...old, ...pick(input) };
  if (names.length > 0) {
    const { id, name, note } = changed;
    await transaction.apiKey.update({ where: { id }, data: { name, note }, select: { id: true } });
    await writeRestrictions(transaction, id, changed);
    await recordAuditEvent(transaction, actor, 'key.updated', old, pick(old), pick(changed));
  }
  return changed;
}

/**
 * Suspends a key, or resumes it; changes nothing if that was done already.
 *
 * @throws ApiError `conflict` if the key has ended.
 */
async function setSuspended(
  transaction: Prisma.TransactionClient,
  old: KeyRecord,
  suspended: boolean,
  actor: Actor,
  nowMs: number,
): Promise<KeyRecord> {
  const end = keyEnd(old, nowMs);
  if (end !== null) {
    const verb = suspended ? 'suspended' : 'resumed';
    throw new ApiError('conflict', `The key is ${end}, so it cannot be ${verb}.`);
  }
  if (suspended === (old.suspendedAt !== null)) {
    return old;
  }
  const now = new Date(nowMs);
  const [before, after] = [{ suspendedAt: old.suspendedAt }, { suspendedAt: suspended ? now : null }];
  await transaction.apiKey.update({ where: { id: old.id }, data: after, select: { id: true } });
  await recordAuditEvent(transaction, actor, suspended ? 'key.suspended' : 'key.resumed', old, before, after);
  await (suspended
    ? queueKeyEvent(transaction, 'key.suspended', old, { suspendedAt: now })
    : queueKeyEvent(transaction, 'key.resumed', old, { resumedAt: now }));
  return { ...old, ...after };
}

/** Issues the successor of a key, which works until `endsAt`. */
async function succeed(
  transaction: Prisma.TransactionClient,
  old: KeyRecord,
  endsAt: Date,
  nowMs: number,
  { key, expiresAt, restrictions }: { key: string; expiresAt: Date | null; restrictions: Restrictions },
  actor: Actor,
): Promise<Changed<New>> {
  const { id, name, note, role, quotaId, issuerId } = old;
  await transaction.apiKey.update({ where: { id }, data: { expiresAt: endsAt }, select: { id: true } });
  const inherited = { name, note, role, quotaId, issuerId };
  const own = { expiresAt, predecessorId: id, createdAt: new Date(nowMs), ...storedFields(key) };
  const record = await createKey(transaction, { ...inherited, ...own }, restrictions);
  const before = { expiresAt: old.expiresAt, successorId: old.successor?.id ?? null };
  const after = { expiresAt: endsAt, successorId: record.id, successorExpiresAt: expiresAt };
  await recordAuditEvent(transaction, actor, 'key.rotated', old, before, after);
  const facts = { expiresAt: endsAt, successorId: record.id };
  // A key may be rotated again.
  const subject = old.successor === null ? id : `${id}:${record.id}`;
  await queueKeyEvent(transaction, 'key.rotated', old, facts, subject);
  return { record, more: { key, overlapEndsAt: endsAt.toISOString() } };
}

/** Revokes a key, and before it the keys that are derived from it. */
async function revokeRecords(
  transaction: Prisma.TransactionClient,
  old: KeyRecord,
  actor: Actor,
  nowMs: number,
) {
  for (const derived of await findDerivedKeys(transaction, old, nowMs)) {
    await revokeRecord(transaction, derived, actor, nowMs);
  }
  return revokeRecord(transaction, old, actor, nowMs);
}

async function revokeRecord(
  transaction: Prisma.TransactionClient,
  old: KeyRecord,
  actor: Actor,
  nowMs: number,
) {
  if (old.revokedAt !== null) {
    return old;
  }
  const data = { revokedAt: new Date(nowMs) };
  await transaction.apiKey.update({ where: { id: old.id }, data, select: { id: true } });
  await recordAuditEvent(transaction, actor, 'key.revoked', old, { revokedAt: null }, data);
  await queueKeyEvent(transaction, 'key.revoked', old, data);
  return { ...old, ...data };
}

/**
 * Returns the successor that another one would replace, or null if the key has none.
 *
 * @throws ApiError `conflict`.
 */
async function requireRotatable(
  database: Database,
  key: KeyRecord,
  nowMs: number,
  maxPerDay: number,
): Promise<KeyRecord | null> {
  const end = keyEnd(key, nowMs);
  if (end !== null) {
    throw new ApiError('conflict', `The key is ${end}, so it cannot be rotated. Issue a new one.`);
  }
  if (maxPerDay !== Infinity && keyInvalidity(key, nowMs) !== null) {
    throw new ApiError('conflict', 'The key is suspended, so only an administrator can rotate it.');
  }
  const { successor } = key;
  if (successor !== null && (successor.revokedAt !== null || (await wasUsed(database, successor.id)))) {
    throw rotatedAlready(successor);
  }
  if (maxPerDay !== Infinity && successor !== null && successor.suspendedAt !== null) {
    // The one that replaces it would not be suspended.
    const message = 'The successor of the key is suspended, so only an administrator can rotate it.';
    throw new ApiError('conflict', message);
  }
  if (maxPerDay !== Infinity && (await readLine(database, key, nowMs)).successorsToday >= maxPerDay) {
    const message =
      `The key was rotated ${maxPerDay} times today, with its predecessors. ` +
      'Try again after 00:00 UTC, or ask an administrator.';
    throw new ApiError('conflict', message);
  }
  return successor && findKey(database, successor.id);
}

function rotatedAlready({ id, revokedAt }: Pick<KeyRecord, 'id' | 'revokedAt'>): ApiError {
  const advice =
    revokedAt === null ? `Rotate its successor ${id}.` : `Its successor ${id} was revoked. Issue a new one.`;
  return new ApiError('conflict', `The key was rotated already. ${advice}`);
}
