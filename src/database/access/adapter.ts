import { PrismaPg } from '@prisma/adapter-pg';
import type { SqlDriverAdapterFactory } from '@prisma/driver-adapter-utils';
import { LRUCache } from 'lru-cache';
import { findSchema } from '../../../prisma/session-settings.mjs';
import type { Pools } from './connection-pool.js';
import { findBorrower, withLastStart } from './request-deadline.js';
import { preparedName } from './statement.js';

/** More than there are: a list of parameters may have any length up to that of a page. */
const STATEMENTS_MAX = 1000;

/**
 * Returns the adapter of Prisma's client. Transactions, and what a request borrows a connection for, run in
 * the pool `transactions`. Statements of batches, of the background and of the changes of administrators run
 * in `queries`, and are prepared: they are few, whereas one plan may not suit all values of a list's filters.
 *
 * Prisma names the schema in its statements, so it is found by the first connection, for all requests:
 * without the deadline of the first.
 */
export function clientAdapter(
  { queries, transactions }: Pools,
  connectionString: string | undefined,
): SqlDriverAdapterFactory {
  const { provider, adapterName } = new PrismaPg(queries);
  const connect = async () => {
    const schema = await findSchema(queries, connectionString);
    const names = new LRUCache<string, string>({
      max: STATEMENTS_MAX,
      memoMethod: (sql) => preparedName('prisma', sql),
    });
    const statementNameGenerator = ({ sql }: { sql: string }) => names.memo(sql);
    const shared = await new PrismaPg(queries, { schema, statementNameGenerator }).connect();
    const borrowing = await new PrismaPg(transactions, { schema }).connect();
    const current = () => (findBorrower() === undefined ? shared : borrowing);
    return {
      provider,
      adapterName,
      queryRaw: (query) => current().queryRaw(query),
      executeRaw: (query) => current().executeRaw(query),
      executeScript: (script) => borrowing.executeScript(script),
      startTransaction: (isolationLevel) => borrowing.startTransaction(isolationLevel),
      getConnectionInfo: () => borrowing.getConnectionInfo(),
      dispose: async () => {
        await Promise.all([shared.dispose(), borrowing.dispose()]);
      },
    } satisfies Awaited<ReturnType<SqlDriverAdapterFactory['connect']>>;
  };
  return { provider, adapterName, connect: () => withLastStart(Infinity, connect) };
}
