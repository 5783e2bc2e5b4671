import type { Prisma } from './generated/client.js';
import { PrismaService } from './prisma.service.js';
import { retryConflicts } from './query-runner.js';

/** The database, or a transaction in it that somebody else ends. */
export type Database = PrismaService | Prisma.TransactionClient;

/**
 * Does all of `work` or nothing: in the transaction that is open, else in one of its own. That waits a second at the most
 * for what others have locked, as the connections that wait are wanted by requests; and the server ends it of itself when it
 * hears nothing more of us, which the network may see to, so that what it has locked is not locked for hours. A transaction of its
 * own that meets another is run again, so `work` changes nothing but the database.
 */
export function atomically<Result>(
  database: Database,
  work: (transaction: Prisma.TransactionClient) => Promise<Result>,
): Promise<Result> {
  if (!('$transaction' in database)) {
    return work(database);
  }
  return retryConflicts(() =>
    database.$transaction(async (transaction) => {
      await transaction.$executeRaw`
        SELECT set_config('lock_timeout', '1s', true), set_config('idle_in_transaction_session_timeout', '10s', true)`;
      return work(transaction);
    }),
  );
}
