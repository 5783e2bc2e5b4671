import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { PrismaPg } from '@prisma/adapter-pg';
import type { ArgType, SqlDriverAdapter, SqlQuery } from '@prisma/driver-adapter-utils';
import type { MetricsRegistry, MetricsSource, Sample } from '../../process/metrics-registry.js';
import { ENVIRONMENT, type Environment } from '../../process/settings/environment.js';
import { clientAdapter, toRows } from './adapter.js';
import { type ConnectionPool, createPool } from './connection-pool.js';
import { PrismaClient } from '../generated/client.js';
import { findPreparedName, type Statement } from './statement.js';

/** Longer than the wait for a connection: the first transaction of a process loads Prisma's engine too. */
const TRANSACTION_WAIT_MS = 5000;
/** The share of the connections that Prisma's client has. */
const CLIENT_SHARE = 0.3;

const SCALAR: ArgType = { scalarType: 'unknown', arity: 'scalar' };
const LIST: ArgType = { scalarType: 'unknown', arity: 'list' };

/**
 * Prisma's client, and statements of our own by its adapter. Each has a pool, `transactions` and `queries`: a
 * transaction or a list that waits for a lock must delay neither keys nor animals.
 */
@Injectable()
export class PrismaService extends PrismaClient implements OnApplicationShutdown, MetricsSource {
  readonly pools: Record<'transactions' | 'queries', ConnectionPool>;
  private readonly statements: Promise<SqlDriverAdapter>;
  /** The number of operations whose statements run in batches. */
  private batchedOperations = 0;

  constructor(@Inject(ENVIRONMENT) environment: Pick<Environment, 'DATABASE_URL' | 'DATABASE_POOL_SIZE'>) {
    const { DATABASE_URL, DATABASE_POOL_SIZE } = environment;
    // With two, clients leave one to administrators.
    const min = DATABASE_POOL_SIZE < 4 ? 1 : 2;
    const size = Math.max(min, Math.floor(DATABASE_POOL_SIZE * CLIENT_SHARE));
    const pools = {
      transactions: createPool(environment, size),
      queries: createPool(environment, DATABASE_POOL_SIZE - size),
    };
    super({
      adapter: clientAdapter(pools.transactions, DATABASE_URL),
      // Other formats have each query keep its stack.
      errorFormat: 'minimal',
      transactionOptions: { maxWait: TRANSACTION_WAIT_MS },
    });
    this.pools = pools;
    this.statements = new PrismaPg(pools.queries, { statementNameGenerator: findPreparedName }).connect();
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
    metrics.gauge('database_queries_pending', 'Queries that wait for a connection.', ['pool'], () =>
      pools.map(([name, { pendingCount }]) => [pendingCount, name]),
    );
  }

  /**
   * Registers an operation whose statements run in batches, and returns its maximum of batches in flight:
   * two, unless two of each operation would leave no connection to keys and usage.
   */
  batchesInFlight(): () => number {
    this.batchedOperations += 1;
    return () => (this.pools.queries.options.max > 2 * this.batchedOperations ? 2 : 1);
  }

  /**
   * Runs a statement, and returns its rows, with the types of `$queryRaw`, which costs a fifth of the
   * throughput of the busiest operations.
   *
   * @throws the error of Prisma's adapter.
   */
  async query<Row>(statement: Statement<Row>, ...values: unknown[]): Promise<Row[]> {
    const adapter = await this.statements;
    return toRows<Row>(await adapter.queryRaw(toQuery(statement, values)));
  }

  /**
   * Runs a statement, and returns the number of rows that it changed.
   *
   * @throws the error of Prisma's adapter.
   */
  async execute(statement: Statement, ...values: unknown[]): Promise<number> {
    const adapter = await this.statements;
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
