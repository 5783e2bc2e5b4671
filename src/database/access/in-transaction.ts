import type { Prisma } from '../generated/client.js';
import { PrismaService } from './prisma.service.js';
import { requireTimeLeft } from './request-deadline.js';
import { retryConflicts } from './retry-conflicts.js';

/** The database, or an open transaction. */
export type Database = PrismaService | Prisma.TransactionClient;

/**
 * Runs `work` in the open transaction, else in one of its own, which is retried after a conflict: so `work`
 * changes nothing but the database. It waits for locks for a second, because requests need its connection;
 * the server ends it if the network loses it. It is rolled back instead of a statement, or the commit, for
 * which its request has no time left.
 */
export function inTransaction<Result>(
  database: Database,
  work: (transaction: Prisma.TransactionClient) => Promise<Result>,
): Promise<Result> {
  // A transaction has `$transaction` too, which would open a savepoint.
  if (!('$connect' in database)) {
    return work(database);
  }
  return retryConflicts(() =>
    database.$transaction(async (transaction) => {
      await transaction.$executeRaw`
        SELECT
          set_config('lock_timeout', '1s', true),
          set_config('idle_in_transaction_session_timeout', '10s', true)`;
      const result = await work(whileTimeLeft(transaction));
      requireTimeLeft();
      return result;
    }),
  );
}

/** Returns the transaction, which throws if it is used once its request has no time left for a statement. */
function whileTimeLeft(transaction: Prisma.TransactionClient): Prisma.TransactionClient {
  return new Proxy(transaction, {
    get(target, name) {
      requireTimeLeft();
      return Reflect.get(target, name) as unknown;
    },
  });
}
