import { PrismaPg } from '@prisma/adapter-pg';
import {
  type ColumnType,
  ColumnTypeEnum,
  type SqlDriverAdapterFactory,
  type SqlResultSet,
} from '@prisma/driver-adapter-utils';
import type pg from 'pg';
import { findSchema } from '../../../prisma/session-settings.mjs';
import { withLastStart } from './request-deadline.js';

/**
 * Returns the adapter of Prisma's client. Prisma names the schema in its statements, so it is found by the
 * first connection, for all requests: without the deadline of the first.
 */
export function clientAdapter(pool: pg.Pool, connectionString: string | undefined): SqlDriverAdapterFactory {
  const { provider, adapterName } = new PrismaPg(pool);
  return {
    provider,
    adapterName,
    connect: () =>
      withLastStart(Infinity, async () => {
        const schema = await findSchema(pool, connectionString);
        return new PrismaPg(pool, { schema }).connect();
      }),
  };
}

type Parse = (text: string) => unknown;

/** What the adapter leaves to the client; null for what it has read. */
const parsers: Partial<Record<ColumnType, Parse | null>> = {
  [ColumnTypeEnum.Int64]: BigInt,
  [ColumnTypeEnum.DateTime]: (text) => new Date(text),
  [ColumnTypeEnum.Json]: (text) => JSON.parse(text) as unknown,
  [ColumnTypeEnum.Int32]: null,
  [ColumnTypeEnum.Double]: null,
  [ColumnTypeEnum.Boolean]: null,
  [ColumnTypeEnum.Text]: null,
  [ColumnTypeEnum.Enum]: null,
  [ColumnTypeEnum.Uuid]: null,
  [ColumnTypeEnum.Int32Array]: null,
  [ColumnTypeEnum.TextArray]: null,
  [ColumnTypeEnum.Bytes]: null,
};

/**
 * Returns the rows of a result as objects, with the types of `$queryRaw`.
 *
 * @throws Error for a type that no statement has returned yet.
 */
export function toRows<Row>({ columnNames, columnTypes, rows }: SqlResultSet): Row[] {
  const parse = columnTypes.map((type, index) => {
    const parser = parsers[type];
    if (parser === undefined) {
      throw new Error(`Add the type of the column "${columnNames[index]}" (${type}) to the parsers`);
    }
    return parser;
  });
  return rows.map((values) => {
    const row: Record<string, unknown> = {};
    columnNames.forEach((name, index) => {
      const value = values[index];
      row[name] = parse[index] && value !== null ? parse[index](value as string) : value;
    });
    return row as Row;
  });
}
