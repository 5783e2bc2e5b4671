import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { PeriodicTask } from '../../database/batches/periodic-task.js';
import { PrismaService } from '../../database/access/prisma.service.js';
import { ENVIRONMENT, type Environment } from '../../process/settings/environment.js';
import { quotaBucketKey } from '../rules/bucket-key.js';
import { FallbackCounterStore } from './fallback-counter-store.js';
import { HOUR_MS } from '../../process/time-units.js';

const QUOTAS_AT_ONCE = 1000;

/**
 * Reads the bans of all quotas in Redis at the start, and every hour. This adds those to its index that are
 * missing, because a release before the index started them, or because it could not be written or was lost.
 */
@Injectable()
export class BanIndexing extends PeriodicTask implements OnApplicationBootstrap {
  /** The last quota that was read in this run; null before the first. */
  private lastId: string | null = null;

  constructor(
    private readonly prisma: PrismaService,
    private readonly counters: FallbackCounterStore,
    @Inject(ENVIRONMENT) private readonly environment: Pick<Environment, 'COUNTER_STORE_URL'>,
  ) {
    super(HOUR_MS, () => this.readNext(), 'Could not read the bans of all quotas');
  }

  onApplicationBootstrap(): void {
    this.runNow();
  }

  /** Reads the bans of the next quotas, and returns whether there are more. */
  async readNext(): Promise<boolean> {
    if (this.environment.COUNTER_STORE_URL === undefined) {
      return false;
    }
    const quotas = await this.prisma.quota.findMany({
      select: { id: true },
      where: this.lastId === null ? {} : { id: { gt: this.lastId } },
      orderBy: { id: 'asc' },
      take: QUOTAS_AT_ONCE,
    });
    await this.counters.bans(quotas.map(({ id }) => quotaBucketKey(id)));
    this.lastId = quotas.length < QUOTAS_AT_ONCE ? null : quotas.at(-1)!.id;
    return this.lastId !== null;
  }
}
