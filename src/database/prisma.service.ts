import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { PrismaPg } from '@prisma/adapter-pg';
import type pg from 'pg';
import { ENVIRONMENT } from '../environment.js';
import { createPool, type PoolSettings, poolSizes, type PoolState, stateOf } from './connection-pool.js';
import { PrismaClient } from './generated/client.js';
import { tellQueries } from './query-channel.js';

/** Longer than the pool has its callers wait: the first transaction of a process loads Prisma's engine as well. */
const TRANSACTION_WAIT_MS = 5000;

/** The database of keys, animals and orders. */
@Injectable()
export class PrismaService extends PrismaClient implements OnApplicationShutdown {
  private readonly pool: pg.Pool;

  constructor(@Inject(ENVIRONMENT) environment: PoolSettings) {
    const pool = createPool(environment, poolSizes(environment.DATABASE_POOL_SIZE).prisma);
    tellQueries(pool);
    super({
      adapter: new PrismaPg(pool, { disposeExternalPool: true }),
      transactionOptions: { maxWait: TRANSACTION_WAIT_MS },
    });
    this.pool = pool;
  }

  get poolState(): PoolState {
    return stateOf(this.pool);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.$disconnect();
    // Prisma has ended it if it ever used it.
    if (!this.pool.ending) {
      await this.pool.end();
    }
  }
}
