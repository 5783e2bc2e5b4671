import { isDeepStrictEqual } from 'node:util';
import { Inject, Injectable } from '@nestjs/common';
import { type Actor, recordAuditEvent } from '../audit/audit.js';
import { type Database, inTransaction } from '../database/access/in-transaction.js';
import { PrismaService } from '../database/access/prisma.service.js';
import { ApiError } from '../http/routes/api-error.js';
import { type RateLimitStatus, rateLimitStatus } from '../rate-limit/rate-limit-status.schema.js';
import { quotaBucketKey } from '../rate-limit/rules/bucket-key.js';
import { FallbackCounterStore } from '../rate-limit/stores/fallback-counter-store.js';
import { readServerTimeMs } from '../database/access/server-time.js';
import { erasePersonalData } from './erasure.js';
import { countValidKeys } from './key.repository.js';
import { KeyService } from './key.service.js';
import { findQuota, lockQuota, quotaColumns } from './quota.repository.js';
import type { Quota, UpdateQuotaInput } from './quota.schemas.js';
import { QUOTA, quotaFields, type QuotaRecord } from './quota.view.js';
import { limitWarnings } from './warnings.js';

/** Reads and changes quotas, which keys share. Each change and its audit event are one transaction. */
@Injectable()
export class QuotaService {
  constructor(
    @Inject(PrismaService) private readonly database: Database,
    private readonly counters: FallbackCounterStore,
  ) {}

  /** @throws ApiError `not_found`. */
  async find(id: string): Promise<Quota> {
    const quota = await findQuota(this.database, id);
    return this.view(this.database, quota, await this.counters.findBanEnd(quotaBucketKey(quota.id)));
  }

  /**
   * Changes the plan of a quota, its own limits and its external id. What is undefined stays, and null
   * removes an own limit or the external id. The counts of the current windows are kept.
   *
   * @throws ApiError `not_found`; `invalid_request` if there is no such plan, if neither the plan nor the
   *   quota would have limits, or if it would have one own limit alone.
   */
  async update(id: string, input: UpdateQuotaInput, actor: Actor): Promise<Quota> {
    return inTransaction(this.database, async (transaction) => {
      const old = await lockQuota(transaction, id);
      const { plan = old.planName, perMinute = old.perMinute, perDay = old.perDay } = input;
      const { externalId = old.externalId } = input;
      const data = await quotaColumns(transaction, { plan, perMinute, perDay, externalId });
      // The ban is read first, because the change is undone if it cannot be read.
      const bannedUntil = await this.counters.findBanEnd(quotaBucketKey(old.id));
      const changed = await transaction.quota.update({ where: { id }, data, ...QUOTA });
      const isRenamed = old.externalId !== changed.externalId;
      const [before, after] = [auditedFields(old, isRenamed), auditedFields(changed, isRenamed)];
      if (!isDeepStrictEqual(before, after)) {
        await recordAuditEvent(transaction, actor, 'quota.updated', old, before, after);
      }
      return this.view(transaction, changed, bannedUntil);
    });
  }

  /**
   * Revokes the keys of a quota, and removes what describes its customer; ids and counts stay.
   * Failed requests that are recorded within the next second remain; erase the quota again to remove them.
   * The audit records it again if there was more to erase. Returns the quota, and whether the customer was
   * erased already.
   *
   * @throws ApiError `not_found`.
   */
  async erase(id: string, actor: Actor): Promise<{ quota: Quota; wasErased: boolean }> {
    return inTransaction(this.database, async (transaction) => {
      const old = await lockQuota(transaction, id);
      const bannedUntil = await this.counters.findBanEnd(quotaBucketKey(old.id));
      // First, so that the events of the revocations have no names either.
      const isErased = await erasePersonalData(transaction, old.id, actor);
      const revokedKeys = await KeyService.revokeAll(transaction, old.id, actor);
      const wasErased = !isErased && revokedKeys === 0;
      if (!wasErased) {
        await recordAuditEvent(transaction, actor, 'quota.erased', old, null, { revokedKeys });
      }
      const quota = await this.view(transaction, await findQuota(transaction, old.id), bannedUntil);
      return { quota, wasErased };
    });
  }

  /**
   * Ends the ban of a quota immediately. Without a ban, nothing changes.
   *
   * @throws ApiError `not_found`.
   */
  async unban(id: string, actor: Actor): Promise<Quota> {
    // While the counter store is unavailable, it is unknown whether there is a ban.
    await this.counters.ping();
    return inTransaction(this.database, async (transaction) => {
      const quota = await lockQuota(transaction, id);
      // No ban is left. Another query of the counter store might fail, although the ban is lifted.
      const unbanned = await this.view(transaction, quota, null);
      const bannedUntil = await this.counters.findBanEnd(quotaBucketKey(quota.id));
      if (bannedUntil !== null) {
        const [before, after] = [{ bannedUntil }, { bannedUntil: null }];
        await recordAuditEvent(transaction, actor, 'quota.unbanned', quota, before, after);
        // The ban is lifted last, because the counter store is not part of this transaction: if the event
        // cannot be recorded, the ban stays.
        await this.counters.liftBan(quotaBucketKey(quota.id));
      }
      return unbanned;
    });
  }

  /**
   * Returns the rate-limit status of a quota, even if none of its keys is valid. Counts nothing.
   *
   * @throws ApiError `not_found`; `service_unavailable` while the counter store is unavailable, because the
   *   limits are then counted locally.
   */
  async findRateLimit(id: string): Promise<RateLimitStatus> {
    const quota = await findQuota(this.database, id);
    const { plan, perMinute, perDay } = quotaFields(quota);
    if (perMinute === null || perDay === null) {
      const bannedUntil = await this.counters.findBanEnd(quotaBucketKey(quota.id));
      return { plan, windows: [], denialsUntilBan: null, bannedUntil: bannedUntil?.toISOString() ?? null };
    }
    const bucketKey = quotaBucketKey(quota.id);
    const decision = await this.counters.peek({ bucketKey, perMinute, perDay });
    if (decision.degraded) {
      const message =
        'The counter store, which holds the windows and the bans, is unavailable. Try again shortly.';
      throw new ApiError('service_unavailable', message);
    }
    return rateLimitStatus(plan, decision);
  }

  private async view(database: Database, quota: QuotaRecord, bannedUntil: Date | null): Promise<Quota> {
    const limits = quotaFields(quota);
    return {
      id: quota.id,
      ...limits,
      bannedUntil: bannedUntil?.toISOString() ?? null,
      validKeyCount: await countValidKeys(database, quota.id, await readServerTimeMs(database)),
      createdAt: quota.createdAt.toISOString(),
      warnings: limitWarnings(limits),
    };
  }
}

/** Returns the plan and the limits of a quota, and its external id if that is changed. */
function auditedFields(quota: QuotaRecord, isRenamed: boolean) {
  const { externalId, ...fields } = quotaFields(quota);
  return isRenamed ? { externalId, ...fields } : fields;
}
