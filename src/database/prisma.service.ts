import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { PrismaPg } from '@prisma/adapter-pg';
import type { SqlDriverAdapterFactory } from '@prisma/driver-adapter-utils';
import type pg from 'pg';
import type { MetricsRegistry, MetricsSource, Sample } from '../metrics/metrics-registry.js';
import { ENVIRONMENT, type Environment } from '../settings/environment.js';
import { findSchema } from '../../prisma/session-settings.mjs';
import { createPool } from './connection-pool.js';
import { PrismaClient } from './generated/client.js';
import { findPreparedName, type Statement } from './statement.js';

/** Longer than the wait for a connection: the first transaction of a process loads Prisma's engine too. */
const TRANSACTION_WAIT_MS = 5000;
/** The share of the connections that transactions have. */
const TRANSACTIONS_SHARE = 0.3;

type Pools = Record<'queries' | 'transactions', pg.Pool>;

/**
 * Returns Prisma's adapter. Prisma names the schema in its statements, so it is found by the first
 * connection.
 */
function createAdapter(pools: Pools, connectionString: string | undefined): SqlDriverAdapterFactory {
  const { provider, adapterName } = new PrismaPg(pools.queries);
  return {
    provider,
    adapterName,
    connect: async () => {
      const schema = await findSchema(pools.queries, connectionString);
      const options = { schema, statementNameGenerator: findPreparedName };
      const adapter = await new PrismaPg(pools.queries, options).connect();
      const transactions = await new PrismaPg(pools.transactions, options).connect();
      adapter.startTransaction = (isolationLevel) => transactions.startTransaction(isolationLevel);
      return adapter;
    },
  };
}

/** Prisma's client, on two pools: a transaction that waits for a lock must delay neither keys nor animals. */
@Injectable()
export class PrismaService extends PrismaClient implements OnApplicationShutdown, MetricsSource {
  readonly pools: Pools;
  /**
   * The maximum of an operation's batches in flight: two, unless those of four operations would leave no
   * connection to keys and usage.
   */
  readonly maxBatchesInFlight: number;

  constructor(@Inject(ENVIRONMENT) environment: Pick<Environment, 'DATABASE_URL' | 'DATABASE_POOL_SIZE'>) {
    const { DATABASE_URL, DATABASE_POOL_SIZE } = environment;
    const transactions = Math.max(1, Math.floor(DATABASE_POOL_SIZE * TRANSACTIONS_SHARE));
    const queries = DATABASE_POOL_SIZE - transactions;
    const pools = {
      queries: createPool(environment, queries),
      transactions: createPool(environment, transactions),
    };
    super({
      adapter: createAdapter(pools, DATABASE_URL),
      // Other formats have each query keep its stack.
      errorFormat: 'minimal',
      transactionOptions: { maxWait: TRANSACTION_WAIT_MS },
    });
    this.pools = pools;
    this.maxBatchesInFlight = queries > 2 * 4 ? 2 : 1;
  }

  addMetrics(metrics: MetricsRegistry): void {
    const pools = Object.entries(this.pools);
    metrics.gauge('database_connections', 'Connections of a pool.', ['pool', 'state'], () =>
      pools.flatMap(([name, { totalCount, idleCount }]): Sample[] => [
        [totalCount - idleCount, name, 'used'],
        [idleCount, name, 'idle'],
      ]),
    );
    metrics.gauge('database_connections_max', 'Maximum connections of a pool.', ['pool'], () =>
      pools.map(([name, { options }]) => [options.max, name]),
    );
    metrics.gauge('database_pending_queries', 'Queries that wait for a connection.', ['pool'], () =>
      pools.map(([name, { waitingCount }]) => [waitingCount, name]),
    );
  }

  /** Runs a statement, and returns its rows. @throws Prisma's error. */
  query<Row>({ text }: Statement<Row>, ...values: unknown[]): Promise<Row[]> {
    return this.$queryRawUnsafe<Row[]>(text, ...values);
  }

  /** Runs a statement, and returns the number of rows that it changed. @throws Prisma's error. */
  execute({ text }: Statement, ...values: unknown[]): Promise<number> {
    return this.$executeRawUnsafe(text, ...values);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.$disconnect();
    await Promise.all(Object.values(this.pools).map((pool) => pool.end()));
  }
}
