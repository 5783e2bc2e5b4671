import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { ArgType, SqlQuery } from '@prisma/driver-adapter-utils';
import type { MetricsRegistry, MetricsSource, Sample } from '../metrics/metrics-registry.js';
import { ENVIRONMENT, type Environment } from '../settings/environment.js';
import { AdapterFactory, type Pools, toRows } from './adapter.js';
import { createPool } from './connection-pool.js';
import { PrismaClient } from './generated/client.js';
import type { Statement } from './statement.js';

/** Longer than the wait for a connection: the first transaction of a process loads Prisma's engine too. */
const TRANSACTION_WAIT_MS = 5000;
/** The share of the connections that transactions have. */
const TRANSACTIONS_SHARE = 0.3;

const SCALAR: ArgType = { scalarType: 'unknown', arity: 'scalar' };
const LIST: ArgType = { scalarType: 'unknown', arity: 'list' };

/** Prisma's client, on two pools: a transaction that waits for a lock must delay neither keys nor animals. */
@Injectable()
export class PrismaService extends PrismaClient implements OnApplicationShutdown, MetricsSource {
  readonly pools: Pools;
  private readonly adapter: AdapterFactory;
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
    const adapter = new AdapterFactory(pools, DATABASE_URL);
    super({
      adapter,
      // Other formats have each query keep its stack.
      errorFormat: 'minimal',
      transactionOptions: { maxWait: TRANSACTION_WAIT_MS },
    });
    this.pools = pools;
    this.adapter = adapter;
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

  /**
   * Runs a statement, and returns its rows, with the types of `$queryRaw`, which costs a fifth of the
   * throughput of the busiest operations.
   *
   * @throws the error of Prisma's adapter.
   */
  async query<Row>(statement: Statement<Row>, ...values: unknown[]): Promise<Row[]> {
    const adapter = await this.adapter.connect();
    return toRows<Row>(await adapter.queryRaw(toQuery(statement, values)));
  }

  /** Runs a statement, and returns the number of rows that it changed. @throws the error of Prisma's adapter. */
  async execute(statement: Statement, ...values: unknown[]): Promise<number> {
    const adapter = await this.adapter.connect();
    return adapter.executeRaw(toQuery(statement, values));
  }

  async onApplicationShutdown(): Promise<void> {
    await this.$disconnect();
    await Promise.all(Object.values(this.pools).map((pool) => pool.end()));
  }
}

function toQuery({ text }: Statement, args: unknown[]): SqlQuery {
  return { sql: text, args, argTypes: args.map((value) => (Array.isArray(value) ? LIST : SCALAR)) };
}
