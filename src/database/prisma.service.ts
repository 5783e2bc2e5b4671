import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { PrismaPg } from '@prisma/adapter-pg';
import type pg from 'pg';
import { ENVIRONMENT } from '../environment.js';
import { createPool, type PoolSettings, poolSizes, type PoolState, stateOf } from './connection-pool.js';
import { PrismaClient } from './generated/client.js';
import { tellQueries } from './query-channel.js';

/** Longer than the pool has its callers wait: the first transaction of a process loads Prisma's engine as well. */
const TRANSACTION_WAIT_MS = 5000;

/**
 * The database of keys, animals and orders: Prisma's client, and both pools of connections. Prisma's engine is loaded by the first use
 * of the client, not by that of `queryPool`.
 */
@Injectable()
export class PrismaService extends PrismaClient implements OnApplicationShutdown {
  /** The connections of `QueryRunner`. */
  readonly queryPool: pg.Pool;
  private readonly pool: pg.Pool;

  constructor(@Inject(ENVIRONMENT) environment: PoolSettings) {
    const sizes = poolSizes(environment.DATABASE_POOL_SIZE);
    const pool = createPool(environment, sizes.prisma);
    tellQueries(pool);
    super({
      adapter: new PrismaPg(pool, { disposeExternalPool: true }),
      transactionOptions: { maxWait: TRANSACTION_WAIT_MS },
    });
    this.pool = pool;
    this.queryPool = createPool(environment, sizes.statements);
  }

  /** The state of each pool, by the name that metrics have for it. */
  get poolStates(): Record<'prisma' | 'statements', PoolState> {
    return { prisma: stateOf(this.pool), statements: stateOf(this.queryPool) };
  }

  async onApplicationShutdown(): Promise<void> {
    const disconnected = this.$disconnect().then(() => {
      // Prisma has ended its pool if it ever used it.
      return this.pool.ending ? undefined : this.pool.end();
    });
    await Promise.all([disconnected, this.queryPool.end()]);
  }
}
