import { isDeepStrictEqual } from 'node:util';
import { Inject, Injectable } from '@nestjs/common';
import { generateApiKey } from '../auth/rules/api-key.js';
import { Clock } from '../settings/clock.js';
import { type Database, inTransaction } from '../database/in-transaction.js';
import { readServerTimeMs } from '../database/server-time.js';
import type { Prisma } from '../database/generated/client.js';
import { PrismaService } from '../database/prisma.service.js';
import { ENVIRONMENT, type Environment } from '../settings/environment.js';
import { ApiError } from '../http/api-error.js';
import type { KeyRole } from '../http/request-line.js';
import { type Scope, scopesForRole } from '../auth/rules/scope.js';
import { FallbackCounterStore } from '../rate-limit/stores/fallback-counter-store.js';
import { quotaBucketKey } from '../rate-limit/rules/bucket-key.js';
import { queueKeyEvent } from '../webhooks/queue-events.js';
import { type Action, type Actor, keyEvent, recordAuditEvent } from '../audit/audit.js';
import {
  countIssuedToday,
  findBanEnd,
  findDerivedKeys,
  findKey,
  lockKey,
  lockQuotaOf,
  requireRoomForKey,
  storedFields,
} from './key.repository.js';
import {
  type ChangePlanInput,
  type CreateKeyInput,
  type Key,
  type IssuedKey,
  type KeyLabelChange,
  type RestrictKeyInput,
  type RotatedKey,
  type RotateKeyInput,
} from './key.schemas.js';
import { KEY, type KeyRecord, keyState, keyView, planFields, restrictionFields } from './key.view.js';
import { quotaColumns } from './quota-plan.js';
import { declareTables } from '../database/tables.js';

declareTables({
  api_keys: { privileges: 'SELECT, INSERT, UPDATE' },
  quotas: { privileges: 'SELECT, INSERT, UPDATE' },
});

const OVERLAP_DEFAULT_SECONDS = 24 * 60 * 60;

/** The key of the same quota by which a holder issues another; undefined if an administrator does. */
interface IssuedBy {
  issuerId?: string;
}

/** Issues, changes and revokes API keys. Each change and its audit event are one transaction. */
@Injectable()
export class KeyService {
  constructor(
    @Inject(PrismaService) private readonly database: Database,
    @Inject(ENVIRONMENT) private readonly environment: Pick<Environment, 'APP_ENV'>,
    private readonly clock: Clock,
    private readonly counters: FallbackCounterStore,
  ) {}

  /** Returns the service in the caller's transaction. */
  within(transaction: Prisma.TransactionClient): KeyService {
    return new KeyService(transaction, this.environment, this.clock, this.counters);
  }

  /**
   * Issues a key with a quota of its own, or on the quota of the key `quotaOf`.
   *
   * @param key the key itself; a generated key by default.
   * @throws ApiError `invalid_request` if there is no such plan or key, if neither the plan nor the input has
   *   limits, or if `expiresAt` is in the past; `conflict` if the quota has as many keys as it may.
   */
  async issue(input: CreateKeyInput & IssuedBy, actor: Actor, key = this.newKey()): Promise<IssuedKey> {
    const { name, note = null, role = 'client', scopes = [], allowedNetworks = [], expiresAt = null } = input;
    this.requireFuture(expiresAt);
    requireWithinRole(role, scopes);
    const issued = await inTransaction(this.database, async (transaction) => {
      const { quotaId, bannedUntil } = await this.createOrLockQuota(transaction, input);
      const restricted = { role, expiresAt, ...restrictionColumns({ scopes, allowedNetworks }) };
      const fields = { name, note, ...restricted, issuerId: input.issuerId ?? null, ...storedFields(key) };
      const record = await transaction.apiKey.create({ data: { ...fields, quotaId }, ...KEY });
      const label = { name, ...(note !== null && { note }) };
      const after = { ...label, role, ...planFields(record), ...restrictionFields(record), expiresAt };
      await recordAuditEvent(transaction, keyEvent(actor, 'key.issued', record, null, after));
      return this.view(record, bannedUntil);
    });
    return { ...issued, key };
  }

  /** Returns whether this key was ever issued, also if it has expired or was revoked. */
  async exists(key: string): Promise<boolean> {
    const { hash } = storedFields(key);
    return (await this.database.apiKey.count({ where: { hash } })) > 0;
  }

  /** @throws ApiError `not_found`. */
  async find(id: string): Promise<Key> {
    const record = await findKey(this.database, id);
    return this.view(record, await findBanEnd(this.counters, record.quotaId));
  }

  /**
   * Issues a successor on the same quota. Both keys work until the overlap ends, though the old key never
   * works past its own expiry. A leaked key is revoked, and so is what holders issued by it.
   *
   * @param maxPerDay the rotations that keys of the quota may have had in the UTC day, this one included. A
   *   leaked key may always be rotated, because that leaves no more valid keys.
   * @throws ApiError `not_found`; `conflict` if the key is revoked, expired, already rotated, or rotated too
   *   often, or if the quota has as many keys as it may; `invalid_request` if `expiresAt` is in the past.
   */
  async rotate(
    id: string,
    input: RotateKeyInput & { leaked?: boolean | undefined },
    actor: Actor,
    maxPerDay = Infinity,
  ): Promise<RotatedKey> {
    const { leaked = false } = input;
    const overlapSeconds = leaked ? 0 : (input.overlapSeconds ?? OVERLAP_DEFAULT_SECONDS);
    const key = this.newKey();
    let endsAt = new Date(0);
    this.requireFuture(input.expiresAt ?? null);
    const successor = await this.change(id, async (transaction, old) => {
      const nowMs = await readServerTimeMs(transaction);
      await requireRotatable(transaction, old, nowMs, leaked ? null : maxPerDay);
      const expiresAt = input.expiresAt ?? old.expiresAt;
      const overlapEnd = new Date(nowMs + overlapSeconds * 1000);
      endsAt = old.expiresAt !== null && old.expiresAt < overlapEnd ? old.expiresAt : overlapEnd;
      await transaction.apiKey.update({ where: { id }, data: { expiresAt: endsAt } });
      if (leaked) {
        await this.revokeWithDerived(transaction, old, actor, nowMs);
      }
      const { name, note, quotaId, issuerId } = old;
      const role = old.role as KeyRole;
      await requireRoomForKey(transaction, quotaId, nowMs);
      const inherited = { name, note, role, ...restrictionColumns(old), quotaId, issuerId };
      const own = { expiresAt, predecessorId: id, createdAt: new Date(nowMs), ...storedFields(key) };
      const created = await transaction.apiKey.create({ data: { ...inherited, ...own }, ...KEY });
      const before = { expiresAt: old.expiresAt, successorId: null };
      const after = { expiresAt: endsAt, successorId: created.id, successorExpiresAt: expiresAt };
      await recordAuditEvent(transaction, keyEvent(actor, 'key.rotated', old, before, after));
      await queueKeyEvent(transaction, 'key.rotated', old, {
        expiresAt: endsAt,
        successorId: created.id,
      });
      return created;
    });
    return { ...successor, key, overlapEndsAt: endsAt.toISOString() };
  }

  /**
   * Revokes a key immediately and permanently. A second revocation changes nothing.
   *
   * @throws ApiError `not_found`.
   */
  async revoke(id: string, actor: Actor): Promise<Key> {
    return this.change(id, (transaction, old) => this.revokeRecord(transaction, old, actor));
  }

  /**
   * Revokes a key that leaked, with its successors and what holders issued by any of them: its thief may have
   * rotated it, or issued others.
   *
   * @throws ApiError `not_found`.
   */
  async revokeLeaked(key: string, actor: Actor): Promise<Key> {
    return this.change(await this.findId(key), async (transaction, old) =>
      this.revokeWithDerived(transaction, old, actor, await readServerTimeMs(transaction)),
    );
  }

  /**
   * Returns the id of a key, for an administrator who has only the key itself.
   *
   * @throws ApiError `not_found`.
   */
  async findId(key: string): Promise<string> {
    const { hash } = storedFields(key);
    const found = await this.database.apiKey.findUnique({ where: { hash }, select: { id: true } });
    if (found === null) {
      throw new ApiError('not_found', 'This key was never issued here. Check that it was copied whole.');
    }
    return found.id;
  }

  /**
   * Changes what a key may do, and from where.
   *
   * @throws ApiError `not_found`; `invalid_request` if the role of the key does not include one of the
   *   scopes.
   */
  async restrict(id: string, input: RestrictKeyInput, actor: Actor): Promise<Key> {
    return this.edit(id, actor, 'key.restricted', restrictionFields, async (transaction, old) => {
      requireWithinRole(old.role as KeyRole, input.scopes);
      const { scopes = old.scopes, allowedNetworks = old.allowedNetworks } = input;
      await transaction.$executeRaw`
        UPDATE api_keys
        SET
          scopes = nullif(${scopes}::text[], '{}'),
          allowed_networks = nullif(${allowedNetworks}::text[], '{}')
        WHERE id = ${id}::uuid`;
      return findKey(transaction, id);
    });
  }

  /**
   * Changes the name of a key, the note on it, or both.
   *
   * @throws ApiError `not_found`.
   */
  async label(id: string, { name, note }: KeyLabelChange, actor: Actor): Promise<Key> {
    const fields = (key: KeyRecord) => ({ name: key.name, note: key.note });
    return this.edit(id, actor, 'key.labeled', fields, (transaction, old) => {
      const data = { name: name ?? old.name, note: note === undefined ? old.note : note };
      return transaction.apiKey.update({ where: { id }, data, ...KEY });
    });
  }

  /**
   * Puts a key's quota on a plan, with own limits or those of the plan. The counts of the current
   * windows are kept.
   *
   * @throws ApiError `not_found`; `invalid_request` if there is no such plan, or if neither the plan nor the
   *   input has limits.
   */
  async changePlan(id: string, input: ChangePlanInput, actor: Actor): Promise<Key> {
    return this.edit(id, actor, 'key.plan_changed', planFields, async (transaction, { quotaId }) => {
      const data = await quotaColumns(transaction, input);
      await transaction.quota.update({ where: { id: quotaId }, data });
      return findKey(transaction, id);
    });
  }

  /**
   * Ends the ban of a key's quota immediately. Without a ban, nothing changes.
   *
   * @throws ApiError `not_found`.
   */
  async unban(id: string, actor: Actor): Promise<Key> {
    // While the counter store is away, it is unknown whether there is a ban.
    await this.counters.ping();
    const record = await inTransaction(this.database, async (transaction) => {
      const locked = await lockKey(transaction, id);
      const bannedUntil = await findBanEnd(this.counters, locked.quotaId);
      if (bannedUntil !== null) {
        const [before, after] = [{ bannedUntil }, { bannedUntil: null }];
        await recordAuditEvent(transaction, keyEvent(actor, 'key.unbanned', locked, before, after));
        // The ban is lifted last, because the counter store is not part of this transaction: if the event
        // cannot be recorded, the ban stays.
        await this.counters.liftBan(quotaBucketKey(locked.quotaId));
      }
      return locked;
    });
    // No ban is left. Another query of the counter store might fail, although the ban is lifted.
    return this.view(record, null);
  }

  /** Creates the quota of a new key, or locks that of the key `quotaOf`. Returns also when its ban ends. */
  private async createOrLockQuota(transaction: Prisma.TransactionClient, input: CreateKeyInput) {
    const { quotaOf } = input;
    if (quotaOf === undefined) {
      const { id } = await transaction.quota.create({ data: await quotaColumns(transaction, input) });
      // It has no ban. A query of the counter store might fail.
      return { quotaId: id, bannedUntil: null };
    }
    const quotaId = await lockQuotaOf(transaction, quotaOf);
    if (quotaId === null) {
      const message = `The request is invalid: quotaOf: no key has the id ${quotaOf}.`;
      throw new ApiError('invalid_request', message);
    }
    await requireRoomForKey(transaction, quotaId, await readServerTimeMs(transaction));
    return { quotaId, bannedUntil: await findBanEnd(this.counters, quotaId) };
  }

  private async revokeWithDerived(
    transaction: Prisma.TransactionClient,
    old: KeyRecord,
    actor: Actor,
    nowMs: number,
  ) {
    for (const derived of await findDerivedKeys(transaction, old.id, nowMs)) {
      await this.revokeRecord(transaction, derived, actor);
    }
    return this.revokeRecord(transaction, old, actor);
  }

  private async revokeRecord(transaction: Prisma.TransactionClient, old: KeyRecord, actor: Actor) {
    if (old.revokedAt !== null) {
      return old;
    }
    const data = { revokedAt: new Date(this.clock.now()) };
    const revoked = await transaction.apiKey.update({ where: { id: old.id }, data, ...KEY });
    await recordAuditEvent(transaction, keyEvent(actor, 'key.revoked', old, { revokedAt: null }, data));
    await queueKeyEvent(transaction, 'key.revoked', old, data);
    return revoked;
  }

  private newKey(): string {
    return generateApiKey(this.environment.APP_ENV);
  }

  /** Runs `change` on a locked key in one transaction, and returns the key that it returns. */
  private change(
    id: string,
    change: (transaction: Prisma.TransactionClient, old: KeyRecord) => Promise<KeyRecord>,
  ): Promise<Key> {
    return inTransaction(this.database, async (transaction) => {
      const old = await lockKey(transaction, id);
      // The ban is read first, because the change is undone if it cannot be read.
      const bannedUntil = await findBanEnd(this.counters, old.quotaId);
      return this.view(await change(transaction, old), bannedUntil);
    });
  }

  /** Runs `change` as above, and records what it changed of `fields`, if anything. */
  private edit(
    id: string,
    actor: Actor,
    action: Action,
    fields: (key: KeyRecord) => Prisma.InputJsonObject,
    change: (transaction: Prisma.TransactionClient, old: KeyRecord) => Promise<KeyRecord>,
  ): Promise<Key> {
    return this.change(id, async (transaction, old) => {
      const changed = await change(transaction, old);
      const [before, after] = [fields(old), fields(changed)];
      if (!isDeepStrictEqual(before, after)) {
        await recordAuditEvent(transaction, keyEvent(actor, action, old, before, after));
      }
      return changed;
    });
  }

  private view(record: KeyRecord, bannedUntil: Date | null): Key {
    return keyView(record, bannedUntil, this.clock.now());
  }

  private requireFuture(expiresAt: Date | null): void {
    if (expiresAt !== null && expiresAt.getTime() <= this.clock.now()) {
      throw new ApiError('invalid_request', 'The request is invalid: expiresAt must be in the future.');
    }
  }
}

/** Returns the columns of restrictions. A column that is left out is NULL: no restriction. */
function restrictionColumns({ scopes, allowedNetworks }: Pick<KeyRecord, 'scopes' | 'allowedNetworks'>) {
  return { ...(scopes.length > 0 && { scopes }), ...(allowedNetworks.length > 0 && { allowedNetworks }) };
}

/** @throws ApiError `invalid_request` if the role does not include one of the scopes. */
function requireWithinRole(role: KeyRole, scopes: readonly Scope[] = []): void {
  if (!scopes.every((scope) => scopesForRole(role).includes(scope))) {
    const message =
      'The request is invalid: scopes must have no scope of administration, unless the role of the key ' +
      'is admin.';
    throw new ApiError('invalid_request', message);
  }
}

/**
 * @param maxPerDay null for a leaked key.
 * @throws ApiError `conflict`.
 */
async function requireRotatable(database: Database, key: KeyRecord, nowMs: number, maxPerDay: number | null) {
  const state = keyState(key, nowMs);
  if (state === 'revoked' || state === 'expired') {
    throw new ApiError('conflict', `The key is ${state}, so it cannot be rotated. Issue a new one.`);
  }
  if (key.successor !== null) {
    throw new ApiError('conflict', `The key was rotated already. ${rotatedAdvice(key.successor, maxPerDay)}`);
  }
  if (maxPerDay === null) {
    return;
  }
  const successors = { quotaId: key.quotaId, predecessorId: { not: null } };
  if ((await countIssuedToday(database, successors, nowMs)) >= maxPerDay) {
    const message =
      `Keys of this quota were rotated ${maxPerDay} times today. ` +
      'Try again after 00:00 UTC, or ask an administrator.';
    throw new ApiError('conflict', message);
  }
}

function rotatedAdvice({ id, revokedAt }: NonNullable<KeyRecord['successor']>, maxPerDay: number | null) {
  if (maxPerDay === null) {
    return 'Ask an administrator to revoke it as leaked.';
  }
  return revokedAt === null
    ? `Rotate its successor ${id}.`
    : `Its successor ${id} was revoked. Issue a new one.`;
}
