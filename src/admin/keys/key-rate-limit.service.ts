import { Injectable } from '@nestjs/common';
import { PrismaService } from '../../database/prisma.service.js';
import { ApiError } from '../../errors/api-error.js';
import { type RateLimitStatus, rateLimitStatus } from '../../rate-limit/rate-limit-status.schema.js';
import { quotaBucketKey } from '../../rate-limit/rules/bucket-key.js';
import { CounterStore } from '../../rate-limit/stores/counter-store.js';
import { findBanEnd } from './key-ban.js';
import { findKey } from './key.repository.js';
import { planFields } from './key.view.js';

/** Reads the rate-limit status of keys, and counts nothing. */
@Injectable()
export class KeyRateLimit {
  constructor(
    private readonly database: PrismaService,
    private readonly counters: CounterStore,
  ) {}

  /**
   * Returns the rate-limit status of a key's quota, also of a key that is no longer valid.
   *
   * @throws ApiError `not_found`; `service_unavailable` while the counter store is away, since the limits are then counted locally.
   */
  async find(id: string): Promise<RateLimitStatus> {
    const record = await findKey(this.database, id);
    const { plan, perMinute, perDay } = planFields(record);
    if (perMinute === null || perDay === null) {
      const bannedUntil = await findBanEnd(this.counters, record.quotaId);
      return { plan, windows: [], refusalsUntilBan: null, bannedUntil: bannedUntil?.toISOString() ?? null };
    }
    const decision = await this.counters.peek({
      bucketKey: quotaBucketKey(record.quotaId),
      perMinute,
      perDay,
    });
    if (decision.degraded) {
      const message = 'The counter store, which holds the windows and the bans, is away. Try again shortly.';
      throw new ApiError('service_unavailable', message);
    }
    return rateLimitStatus(plan, decision);
  }
}
