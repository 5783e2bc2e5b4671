import { Injectable } from '@nestjs/common';
import { keyActor } from '../../audit/audit.js';
import { requireScope } from '../../auth/permission.guard.js';
import { unknownRecord } from '../../auth/require-record.js';
import { type Database, inTransaction } from '../../database/access/in-transaction.js';
import { PrismaService } from '../../database/access/prisma.service.js';
import { readServerTimeMs } from '../../database/access/server-time.js';
import { ApiError } from '../../http/routes/api-error.js';
import { countIssuedToday, findKey, lockKey, requireRoomForKey } from '../key.repository.js';
import { KeyReader } from '../key-reader.service.js';
import { KeyService } from '../key.service.js';
import { keyInvalidity, type KeyRecord } from '../key.view.js';
import { furtherKeyBounds, issuableScopes } from '../rules/further-key.js';
import { earliest, latestExpiry } from '../rules/key-lifetime.js';
import type { NewFurtherKey } from './further-key.schemas.js';
import type { IssuedKey, KeyWithUsage } from '../key.schemas.js';

/**
 * A key, with its predecessors, may issue so many in a UTC day, so that a stolen key cannot issue and revoke
 * them endlessly, nor use up the number of another.
 */
const ISSUES_PER_DAY = 100;

/** Issues and revokes keys for the holder of a key with the scope `keys:write`, on its quota. */
@Injectable()
export class FurtherKeyService {
  constructor(
    private readonly database: PrismaService,
    private readonly keys: KeyService,
    private readonly reader: KeyReader,
  ) {}

  /**
   * Issues a key within the bounds that the key `issuerId` has at that moment.
   *
   * @throws ApiError `insufficient_scope` or `conflict` if the issuer has lost its scope or its validity
   *   meanwhile; `conflict` if it has nothing to give, or issued as many keys as it may in the UTC day, or
   *   if its quota has as many as it may;
   *   `invalid_request` if the input exceeds its bounds.
   */
  async issue(issuerId: string, { name, ...given }: NewFurtherKey): Promise<IssuedKey> {
    // What will be denied need not wait for the lock.
    await requireBounds(this.database, await findKey(this.database, issuerId), given);
    return inTransaction(this.database, async (transaction) => {
      const issuer = await lockKey(transaction, issuerId);
      const bounds = await requireBounds(transaction, issuer, given);
      const expiresAt = bounds.expiresAt ?? undefined;
      const input = { name, ...bounds, expiresAt, quotaId: issuer.quotaId, issuerId };
      return this.keys.within(transaction).issue(input, keyActor(issuerId));
    });
  }

  /**
   * Revokes a key of the quota that a holder issued, with all that is derived from it, immediately and
   * permanently.
   *
   * @param actorId the key of the request.
   * @throws ApiError `not_found` if the quota has no such key, or an administrator issued it.
   */
  async revoke(id: string, quotaId: string, actorId: string): Promise<KeyWithUsage> {
    const key = await findKey(this.database, id);
    if (key.quotaId !== quotaId || key.issuerId === null) {
      throw unknownRecord('key', id);
    }
    await this.keys.revoke(id, keyActor(actorId), { withDerived: true });
    return this.reader.find(id);
  }
}

/**
 * Returns the bounds of a key that `issuer` may issue now.
 *
 * @throws ApiError `insufficient_scope`, `conflict` or `invalid_request`.
 */
async function requireBounds(database: Database, issuer: KeyRecord, given: Omit<NewFurtherKey, 'name'>) {
  requireScope(issuer.scopes, 'keys:write');
  const nowMs = await readServerTimeMs(database);
  const reason = keyInvalidity(issuer, nowMs);
  if (reason !== null) {
    throw new ApiError('conflict', `The key of the request is ${reason}, so it cannot issue other keys.`);
  }
  if (issuableScopes(issuer.scopes).length === 0) {
    const message = 'Your key has no scope that it could give to another. Ask an administrator for one.';
    throw new ApiError('conflict', message);
  }
  await requireIssuesLeft(database, issuer, nowMs);
  const { bounds, faults } = furtherKeyBounds(issuer, given);
  if (faults.length > 0) {
    throw new ApiError('invalid_request', `The request is invalid: ${faults.join('; ')}.`);
  }
  await requireRoomForKey(database, issuer.quotaId, nowMs);
  // The plan may have got a shorter life since the issuer was issued.
  const latest = latestExpiry(issuer.quota.plan.maxKeyLifetimeDays, nowMs);
  return { ...bounds, expiresAt: given.expiresAt ?? earliest(bounds.expiresAt, latest) };
}

/** @throws ApiError `conflict` if `ISSUES_PER_DAY` keys were issued in the UTC day by keys of this line. */
async function requireIssuesLeft(database: Database, { quotaId, lineId }: KeyRecord, nowMs: number) {
  // A successor has the issuer of its predecessor, even once another one replaced it.
  const issued = { quotaId, issuer: { lineId }, predecessorId: null, formerLineId: null };
  if ((await countIssuedToday(database, issued, nowMs)) >= ISSUES_PER_DAY) {
    const message =
      `Your key, with its predecessors, issued ${ISSUES_PER_DAY} keys today. ` +
      'Try again after 00:00 UTC, or ask an administrator.';
    throw new ApiError('conflict', message);
  }
}
