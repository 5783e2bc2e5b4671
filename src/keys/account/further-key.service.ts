import { Injectable } from '@nestjs/common';
import type { z } from 'zod';
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
import type { KeyRecord } from '../key.view.js';
import { findKeyEnd } from '../../auth/key-validity.js';
import { furtherKeyBounds, issuableScopes } from '../rules/further-key.js';
import {
  FurtherKey,
  type FurtherKeyQuery,
  IssuedFurtherKey,
  type NewFurtherKey,
} from './further-key.schemas.js';
import type { Page } from '../../schemas/pagination.js';
import type { KeyWithUsage } from '../key.schemas.js';

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

  /** Returns one page of the keys of a quota that holders issued, oldest first. */
  async page(quotaId: string, { limit, cursor }: FurtherKeyQuery): Promise<Page<FurtherKey>> {
    const { entries, last } = await this.reader.issuedPage(quotaId, limit, cursor);
    return { entries: entries.map(toFurtherKey), last: last && toFurtherKey(last) };
  }

  /**
   * Issues a key within the bounds that the key `issuerId` has at that moment.
   *
   * @throws ApiError `insufficient_scope` or `conflict` if the issuer has lost its scope or its validity
   *   meanwhile; `conflict` if it has nothing to give, or issued as many keys as it may in the UTC day, or
   *   if its quota has as many as it may;
   *   `invalid_request` if the input exceeds its bounds.
   */
  async issue(issuerId: string, { name, ...given }: NewFurtherKey): Promise<IssuedFurtherKey> {
    // What will be denied need not wait for the lock.
    await requireBounds(this.database, await findKey(this.database, issuerId), given);
    return inTransaction(this.database, async (transaction) => {
      const issuer = await lockKey(transaction, issuerId);
      const bounds = await requireBounds(transaction, issuer, given);
      const expiresAt = bounds.expiresAt ?? undefined;
      const input = { name, ...bounds, expiresAt, quotaId: issuer.quotaId, issuerId };
      const issued = await this.keys.within(transaction).issue(input, keyActor(issuerId));
      return pickFields(IssuedFurtherKey, { ...issued, issuerId });
    });
  }

  /**
   * Revokes a key of the quota that a holder issued, with all that is derived from it, immediately and
   * permanently.
   *
   * @param actorId the key of the request.
   * @throws ApiError `not_found` if there is no such key, also if it is one of another quota or was issued by
   *   an administrator.
   */
  async revoke(id: string, quotaId: string, actorId: string): Promise<FurtherKey> {
    const key = await findKey(this.database, id);
    if (key.quotaId !== quotaId || key.issuerId === null) {
      throw unknownRecord('key', id);
    }
    await this.keys.revokeWithDerived(id, keyActor(actorId));
    return toFurtherKey(await this.reader.find(id));
  }
}

/** Returns what holders see of a key that a holder issued. */
function toFurtherKey({ issuerId, ...key }: KeyWithUsage): FurtherKey {
  return pickFields(FurtherKey, { ...key, issuerId: issuerId! });
}

/** Returns the fields of a schema. It checks no value, because a newer release may have stored others. */
function pickFields<Shape extends z.ZodRawShape>(
  { shape }: z.ZodObject<Shape>,
  fields: z.infer<z.ZodObject<Shape>>,
) {
  const shown = Object.entries(fields).filter(([name]) => name in shape);
  return Object.fromEntries(shown) as typeof fields;
}

/**
 * Returns the bounds of a key that `issuer` may issue now.
 *
 * @throws ApiError `insufficient_scope`, `conflict` or `invalid_request`.
 */
async function requireBounds(database: Database, issuer: KeyRecord, given: Omit<NewFurtherKey, 'name'>) {
  requireScope(issuer.scopes, 'keys:write');
  const nowMs = await readServerTimeMs(database);
  const end = findKeyEnd(issuer.revokedAt !== null, issuer.expiresAt, nowMs);
  if (end !== null) {
    throw new ApiError('conflict', `The key of the request is ${end}, so it cannot issue other keys.`);
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
  return bounds;
}

/** @throws ApiError `conflict` if `ISSUES_PER_DAY` keys were issued in the UTC day by keys of this line. */
async function requireIssuesLeft(database: Database, { quotaId, lineId }: KeyRecord, nowMs: number) {
  const issued = { quotaId, issuer: { lineId }, predecessorId: null };
  if ((await countIssuedToday(database, issued, nowMs)) >= ISSUES_PER_DAY) {
    const message =
      `Your key, with its predecessors, issued ${ISSUES_PER_DAY} keys today. ` +
      'Try again after 00:00 UTC, or ask an administrator.';
    throw new ApiError('conflict', message);
  }
}
