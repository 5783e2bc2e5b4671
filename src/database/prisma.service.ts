import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { PrismaPg } from '@prisma/adapter-pg';
import type pg from 'pg';
import { ENVIRONMENT, type Environment } from '../settings/environment.js';
import { createPool } from './connection-pool.js';
import { PrismaClient } from './generated/client.js';
import { publishQueries } from './query-channel.js';

/** Longer than the wait for a connection: the first transaction of a process loads Prisma's engine too. */
const TRANSACTION_WAIT_MS = 5000;
const PRISMA_SHARE = 0.3;

/** The current connections of a pool, and how many queries wait for one. */
interface PoolState {
  max: number;
  open: number;
  idle: number;
  waiting: number;
}

/** Prisma's client, whose engine its first use loads, and both pools of connections. */
@Injectable()
export class PrismaService extends PrismaClient implements OnApplicationShutdown {
  /** The connections of `QueryRunner`. */
  readonly queryPool: pg.Pool;
  private readonly pool: pg.Pool;

  constructor(@Inject(ENVIRONMENT) environment: Pick<Environment, 'DATABASE_URL' | 'DATABASE_POOL_SIZE'>) {
    const { DATABASE_POOL_SIZE } = environment;
    // Two pools, because a transaction that waits for a lock must delay neither keys nor animals.
    const prismaSize = Math.max(1, Math.floor(DATABASE_POOL_SIZE * PRISMA_SHARE));
    const pool = createPool(environment, prismaSize);
    publishQueries(pool);
    super({
      adapter: new PrismaPg(pool, { disposeExternalPool: true }),
      transactionOptions: { maxWait: TRANSACTION_WAIT_MS },
    });
    this.pool = pool;
    this.queryPool = createPool(environment, DATABASE_POOL_SIZE - prismaSize);
  }

  /** The state of each pool, by its name in metrics. */
  get poolStates(): Record<'prisma' | 'queries', PoolState> {
    return { prisma: poolState(this.pool), queries: poolState(this.queryPool) };
  }

  async onApplicationShutdown(): Promise<void> {
    const disconnected = this.$disconnect().then(() => {
      // Prisma ends its pool only if it has used it.
      return this.pool.ending ? undefined : this.pool.end();
    });
    await Promise.all([disconnected, this.queryPool.end()]);
  }
}

function poolState({ options, totalCount, idleCount, waitingCount }: pg.Pool): PoolState {
  return { max: options.max, open: totalCount, idle: idleCount, waiting: waitingCount };
}
