import { Injectable } from '@nestjs/common';
import type { Principal } from '../auth/principal.js';
import { PrismaService } from '../database/access/prisma.service.js';
import { ApiError } from '../http/routes/api-error.js';
import { parseQuotaId, quotaBucketKey } from '../rate-limit/rules/bucket-key.js';
import { FallbackCounterStore } from '../rate-limit/stores/fallback-counter-store.js';
import { readServerTimeMs } from '../database/access/server-time.js';
import { UsageJournal } from '../usage/usage.journal.js';
import { countKeys, findKeyPage, usageOfKeys } from './key-page.repository.js';
import type { CurrentKey } from './account/account.schemas.js';
import type { KeyPosition, KeyQuery } from './key-query.schemas.js';
import { findKey, findKeys } from './key.repository.js';
import type { KeyWithUsage } from './key.schemas.js';
import { type KeyRecord, keyView } from './key.view.js';
import { quotaFields } from './quota.view.js';
import type { PageQuery } from '../schemas/uuid.js';
import { type Page, toPage } from '../schemas/pagination.js';

/** Reads keys with their usage, and their names. */
@Injectable()
export class KeyReader {
  constructor(
    private readonly database: PrismaService,
    private readonly counters: FallbackCounterStore,
    private readonly journal: UsageJournal,
  ) {}

  /** @throws ApiError `not_found`. */
  async find(id: string): Promise<KeyWithUsage> {
    const record = await findKey(this.database, id);
    const banEnd = await this.counters.findBanEnd(quotaBucketKey(record.quotaId));
    await this.aggregateUsage();
    const [key] = await this.withUsage([record], () => banEnd, await readServerTimeMs(this.database));
    return key as KeyWithUsage;
  }

  /**
   * Returns the key of a request, with the limits that the headers of its response report. The schema of the
   * response leaves out what its holder must not see.
   *
   * @throws ApiError `service_unavailable` for a key that was deleted by hand meanwhile.
   */
  async findCurrent({
    keyId,
    quota: { plan, perMinute, perDay },
  }: Principal): Promise<Record<keyof CurrentKey, unknown>> {
    const [record] = await findKeys(this.database, { where: { id: keyId } });
    if (record === undefined) {
      throw new ApiError('service_unavailable', 'The API key is being changed. Try again shortly.');
    }
    const state = record.successor === null ? 'active' : 'rotating';
    // With its own fields as text alone, because the serializer validates an object that may be null.
    const successor = record.successor && {
      prefix: record.successor.prefix,
      lastFour: record.successor.lastFour,
      createdAt: record.successor.createdAt.toISOString(),
      expiresAt: record.successor.expiresAt?.toISOString() ?? null,
      revokedAt: record.successor.revokedAt?.toISOString() ?? null,
    };
    return { ...record, ...quotaFields(record.quota), plan, perMinute, perDay, state, successor };
  }

  /**
   * Returns one page of the keys, the position of the last one, or null on the last page, and the number of
   * keys on all pages.
   */
  async page(query: KeyQuery): Promise<{ entries: KeyWithUsage[]; last: KeyPosition | null; total: number }> {
    const allBans = query.banned === undefined ? null : await this.counters.bans();
    const bannedQuotas = [...(allBans?.keys() ?? [])].flatMap((bucketKey) => parseQuotaId(bucketKey) ?? []);
    await this.aggregateUsage();
    const nowMs = await readServerTimeMs(this.database);
    const selection = [this.database, query, bannedQuotas, nowMs] as const;
    const [{ records, last }, total] = await Promise.all([
      findKeyPage(...selection),
      countKeys(...selection),
    ]);
    const bucketKeys = records.map(({ quotaId }) => quotaBucketKey(quotaId));
    const bans = allBans ?? (await this.counters.bans(bucketKeys));
    const findBan = (quotaId: string) => bans.get(quotaBucketKey(quotaId)) ?? null;
    const entries = await this.withUsage(records, findBan, nowMs);
    return { entries, last, total };
  }

  /**
   * Returns one page of the keys of a quota that holders issued, oldest first. The schema of the response
   * leaves out what they must not see.
   */
  async issuedPage(quotaId: string, { limit, cursor }: PageQuery): Promise<Page<KeyWithUsage>> {
    await this.aggregateUsage();
    const where = { quotaId, issuerId: { not: null }, ...(cursor !== undefined && { id: { gt: cursor } }) };
    const records = await findKeys(this.database, { where, orderBy: { id: 'asc' }, take: limit + 1 });
    // A holder finds the ban of the quota elsewhere.
    const nowMs = await readServerTimeMs(this.database);
    return toPage(await this.withUsage(records, () => null, nowMs), limit);
  }

  /** Returns the names of the keys with these ids, by id. A key that was deleted by hand is not included. */
  async findNames(ids: readonly string[]): Promise<Map<string, string>> {
    const keys = await this.database.$queryRaw<{ id: string; name: string }[]>`
      SELECT id, name FROM api_keys WHERE id = ANY (${[...new Set(ids)]}::uuid[])`;
    return new Map(keys.map(({ id, name }) => [id, name]));
  }

  private async aggregateUsage(): Promise<void> {
    try {
      await this.journal.aggregate();
    } catch {
      // Keys can be read from a read-only database: without the usage that is still in the journal, which
      // logs the failure.
    }
  }

  private async withUsage(
    records: KeyRecord[],
    findBan: (quotaId: string) => Date | null,
    nowMs: number,
  ): Promise<KeyWithUsage[]> {
    const usage = await usageOfKeys(this.database, records, nowMs);
    return records.map((record) => ({
      ...keyView(record, findBan(record.quotaId), nowMs),
      ...usage.get(record.id)!,
    }));
  }
}
