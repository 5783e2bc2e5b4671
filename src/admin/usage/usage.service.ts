import { Injectable } from '@nestjs/common';
import { PrismaService } from '../../database/prisma.service.js';
import { Clock } from '../../settings/clock.js';
import type { Page } from '../../schemas/pagination.js';
import { UsageRepository } from '../../usage/usage.repository.js';
import type { Usage } from '../../usage/usage.schemas.js';
import { findKey } from '../keys/key.repository.js';
import type { UsageQuery } from './usage.schemas.js';

const DAY_MS = 86_400_000;

/** Lists the usage of keys. */
@Injectable()
export class UsageService {
  constructor(
    private readonly database: PrismaService,
    private readonly repository: UsageRepository,
    private readonly clock: Clock,
  ) {}

  /**
   * Returns one page of the usage of all keys, or of the key `id`, newest first.
   *
   * @throws ApiError `not_found` if there is no such key.
   */
  async page({ days, cursor, ...query }: UsageQuery, id?: string): Promise<Page<Usage>> {
    const keyId = id === undefined ? undefined : (await findKey(this.database, id)).id;
    const since = new Date((Math.floor(this.clock.now() / DAY_MS) - days + 1) * DAY_MS);
    return this.repository.page({ ...query, after: cursor, since, keyId });
  }
}
