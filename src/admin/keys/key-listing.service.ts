import { Injectable } from '@nestjs/common';
import { PrismaService } from '../../database/prisma.service.js';
import { parseQuotaId, quotaBucketKey } from '../../rate-limit/rules/bucket-key.js';
import { CounterStore } from '../../rate-limit/stores/counter-store.js';
import { Clock } from '../../settings/clock.js';
import { UsageJournal } from '../../usage/usage.journal.js';
import { findBanEnd } from './key-ban.js';
import { findKeys } from './key-page.repository.js';
import type { KeyPosition, KeyQuery } from './key-query.schemas.js';
import { findKey } from './key.repository.js';
import type { KeyWithUsage } from './key.schemas.js';
import { usageOfKeys } from './key-usage.repository.js';
import { type KeyRecord, keyView, keyWithUsage } from './key.view.js';

/** Lists keys with their usage. */
@Injectable()
export class KeyListing {
  constructor(
    private readonly database: PrismaService,
    private readonly clock: Clock,
    private readonly counters: CounterStore,
    private readonly journal: UsageJournal,
  ) {}

  /** @throws ApiError `not_found`. */
  async find(id: string): Promise<KeyWithUsage> {
    const record = await findKey(this.database, id);
    const banEnd = await findBanEnd(this.counters, record.quotaId);
    const bans = new Map([[quotaBucketKey(record.quotaId), banEnd]]);
    await this.aggregateUsage();
    const [key] = await this.withUsage([record], bans);
    return key as KeyWithUsage;
  }

  /** Returns one page of the keys, and the position after which the next one begins, or null on the last page. */
  async page(query: KeyQuery): Promise<{ keys: KeyWithUsage[]; next: KeyPosition | null }> {
    const bans = await this.counters.bans();
    const bannedQuotas = [...bans.keys()].flatMap((bucketKey) => parseQuotaId(bucketKey) ?? []);
    await this.aggregateUsage();
    const { records, next } = await findKeys(this.database, query, bannedQuotas, this.clock.now());
    return { keys: await this.withUsage(records, bans), next };
  }

  private async withUsage(records: KeyRecord[], bans: Map<string, Date | null>): Promise<KeyWithUsage[]> {
    const nowMs = this.clock.now();
    const ids = records.map(({ id }) => id);
    const usage = await usageOfKeys(this.database, ids, nowMs);
    return records.flatMap((record) => {
      const bannedUntil = bans.get(quotaBucketKey(record.quotaId)) ?? null;
      const ofKey = usage.get(record.id);
      return ofKey === undefined ? [] : [keyWithUsage(keyView(record, bannedUntil, nowMs), ofKey)];
    });
  }

  private async aggregateUsage(): Promise<void> {
    try {
      await this.journal.aggregate();
    } catch {
      // Keys can be read from a read-only database: without the usage that is still in the journal, which logs the failure.
    }
  }
}
