import { PrismaPg } from '@prisma/adapter-pg';
import {
  type ColumnType,
  ColumnTypeEnum,
  type SqlDriverAdapter,
  type SqlDriverAdapterFactory,
  type SqlResultSet,
} from '@prisma/driver-adapter-utils';
import type pg from 'pg';
import { findSchema } from '../../prisma/session-settings.mjs';
import { findPreparedName } from './statement.js';

/** The connections of single statements, and those of transactions. */
export type Pools = Record<'queries' | 'transactions', pg.Pool>;

/** Prisma's adapter, on two pools. */
export class AdapterFactory implements SqlDriverAdapterFactory {
  readonly provider = 'postgres';
  readonly adapterName = '@prisma/adapter-pg';
  private connected: Promise<SqlDriverAdapter> | undefined;

  constructor(
    private readonly pools: Pools,
    private readonly connectionString: string | undefined,
  ) {}

  /** Returns the one adapter of this process. @throws the error of the first connection, and then tries again. */
  connect(): Promise<SqlDriverAdapter> {
    this.connected ??= this.open().catch((error: unknown) => {
      this.connected = undefined;
      throw error;
    });
    return this.connected;
  }

  /** Prisma names the schema in its statements, so it is found by the first connection. */
  private async open(): Promise<SqlDriverAdapter> {
    const schema = await findSchema(this.pools.queries, this.connectionString);
    const options = { schema, statementNameGenerator: findPreparedName };
    const adapter = await new PrismaPg(this.pools.queries, options).connect();
    const transactions = await new PrismaPg(this.pools.transactions, options).connect();
    adapter.startTransaction = (isolationLevel) => transactions.startTransaction(isolationLevel);
    return adapter;
  }
}

/** Of the types that the adapter leaves to the client. */
const parsers: Partial<Record<ColumnType, (text: string) => unknown>> = {
  [ColumnTypeEnum.Int64]: BigInt,
  [ColumnTypeEnum.DateTime]: (text) => new Date(text),
  [ColumnTypeEnum.Json]: (text) => JSON.parse(text) as unknown,
};

/** Returns the rows of a result as objects, with the types of Prisma's client. */
export function toRows<Row>({ columnNames, columnTypes, rows }: SqlResultSet): Row[] {
  return rows.map((values) => {
    const row: Record<string, unknown> = {};
    columnNames.forEach((name, index) => {
      const parse = parsers[columnTypes[index] as ColumnType];
      const value = values[index];
      row[name] = parse === undefined || value === null ? value : parse(value as string);
    });
    return row as Row;
  });
}
