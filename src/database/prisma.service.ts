import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { PrismaPg } from '@prisma/adapter-pg';
import type { SqlDriverAdapterFactory } from '@prisma/driver-adapter-utils';
import type pg from 'pg';
import { ENVIRONMENT, type Environment } from '../settings/environment.js';
import { findSchema } from '../../prisma/session-settings.mjs';
import { createPool } from './connection-pool.js';
import { PrismaClient } from './generated/client.js';

/** Longer than the wait for a connection: the first transaction of a process loads Prisma's engine too. */
const TRANSACTION_WAIT_MS = 5000;
const PRISMA_SHARE = 0.3;

/**
 * Returns Prisma's adapter. Prisma names the schema in every statement, so it is found by the first
 * connection.
 */
function createAdapter(pool: pg.Pool, connectionString: string | undefined): SqlDriverAdapterFactory {
  const options = { disposeExternalPool: true };
  const { provider, adapterName } = new PrismaPg(pool, options);
  return {
    provider,
    adapterName,
    connect: async () => {
      const schema = await findSchema(pool, connectionString);
      return new PrismaPg(pool, { ...options, schema }).connect();
    },
  };
}

/** Prisma's client, whose engine its first use loads, and both pools of connections. */
@Injectable()
export class PrismaService extends PrismaClient implements OnApplicationShutdown {
  /** The pool of Prisma's client, and that of `QueryRunner`. */
  readonly pools: Record<'prisma' | 'queries', pg.Pool>;

  constructor(@Inject(ENVIRONMENT) environment: Pick<Environment, 'DATABASE_URL' | 'DATABASE_POOL_SIZE'>) {
    const { DATABASE_URL, DATABASE_POOL_SIZE } = environment;
    // Two pools, because a transaction that waits for a lock must delay neither keys nor animals.
    const prismaSize = Math.max(1, Math.floor(DATABASE_POOL_SIZE * PRISMA_SHARE));
    const prisma = createPool(environment, prismaSize);
    super({
      adapter: createAdapter(prisma, DATABASE_URL),
      transactionOptions: { maxWait: TRANSACTION_WAIT_MS },
    });
    this.pools = { prisma, queries: createPool(environment, DATABASE_POOL_SIZE - prismaSize) };
  }

  async onApplicationShutdown(): Promise<void> {
    await this.$disconnect();
    // Prisma ends its pool only if it has used it.
    const open = Object.values(this.pools).filter(({ ending }) => !ending);
    await Promise.all(open.map((pool) => pool.end()));
  }
}
