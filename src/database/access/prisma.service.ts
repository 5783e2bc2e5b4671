import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { BatchMetrics, MetricsRegistry, MetricsSource, Sample } from '../../process/metrics-registry.js';
import { ENVIRONMENT, type Environment } from '../../process/settings/environment.js';
import { clientAdapter } from './adapter.js';
import { createPool, type Pools } from './connection-pool.js';
import { PrismaClient } from '../generated/client.js';
import { SqlRunner } from './statement.js';

/** Longer than the wait for a connection: the first transaction of a process loads Prisma's engine too. */
const TRANSACTION_WAIT_MS = 5000;
/** The share of the connections that transactions and lists have. */
const TRANSACTIONS_SHARE = 0.3;

/**
 * Prisma's client, with two pools: a transaction or a list that waits for a lock must delay neither keys nor
 * animals.
 */
@Injectable()
export class PrismaService extends PrismaClient implements OnApplicationShutdown, MetricsSource {
  readonly pools: Pools;
  /** Statements of our own, in the pool `queries`. */
  readonly sql: SqlRunner;
  /** Those of the operations whose statements run in batches. */
  private readonly batches: BatchMetrics[] = [];

  constructor(@Inject(ENVIRONMENT) environment: Pick<Environment, 'DATABASE_URL' | 'DATABASE_POOL_SIZE'>) {
    const { DATABASE_URL, DATABASE_POOL_SIZE } = environment;
    // With two, clients leave one to administrators.
    const min = DATABASE_POOL_SIZE < 4 ? 1 : 2;
    const size = Math.max(min, Math.floor(DATABASE_POOL_SIZE * TRANSACTIONS_SHARE));
    const pools = {
      transactions: createPool(environment, size),
      queries: createPool(environment, DATABASE_POOL_SIZE - size),
    };
    super({
      adapter: clientAdapter(pools, DATABASE_URL),
      // Other formats have each query keep its stack.
      errorFormat: 'minimal',
      transactionOptions: { maxWait: TRANSACTION_WAIT_MS },
    });
    this.pools = pools;
    this.sql = new SqlRunner(pools.queries);
  }

  addMetrics(metrics: MetricsRegistry): void {
    metrics.addBatches(...this.batches);
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
    metrics.gauge('database_queries_pending', 'Queries that wait for a connection.', ['pool'], () =>
      pools.map(([name, { pendingCount }]) => [pendingCount, name]),
    );
  }

  /**
   * Registers the batches of an operation, each with one connection, and returns their maximum in flight:
   * two, unless two of each operation would leave no connection to keys and usage.
   */
  registerBatches(batches: BatchMetrics): () => number {
    this.batches.push(batches);
    return () => (this.pools.queries.options.max > 2 * this.batches.length ? 2 : 1);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.$disconnect();
    await Promise.all(Object.values(this.pools).map((pool) => pool.end()));
  }
}
