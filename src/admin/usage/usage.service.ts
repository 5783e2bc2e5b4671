import { Injectable } from '@nestjs/common';
import { PrismaService } from '../../database/prisma.service.js';
import { Clock } from '../../settings/clock.js';
import type { Period } from '../../usage/rules/periods.js';
import { type UsagePosition, UsageRepository } from '../../usage/usage.repository.js';
import { findKey } from '../keys/key.repository.js';
import type { Usage } from './usage.schemas.js';

const DAY_MS = 86_400_000;

/** Selects a page of usage: `limit` entries, newest first, of the last `days` UTC days, today included. */
interface UsagePageInput {
  period: Period;
  days: number;
  limit: number;
  after?: UsagePosition | undefined;
}

/** Lists the usage of keys. */
@Injectable()
export class UsageService {
  constructor(
    private readonly database: PrismaService,
    private readonly repository: UsageRepository,
    private readonly clock: Clock,
  ) {}

  /**
   * Returns one page of the usage of all keys, or of the key `id`, and whether more follows.
   *
   * @throws ApiError `not_found` if there is no such key.
   */
  async page({ days, ...page }: UsagePageInput, id?: string): Promise<{ usage: Usage[]; more: boolean }> {
    const keyId = id === undefined ? undefined : (await findKey(this.database, id)).id;
    const since = new Date((Math.floor(this.clock.now() / DAY_MS) - days + 1) * DAY_MS);
    return this.repository.page({ ...page, since, keyId });
  }
}
