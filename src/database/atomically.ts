import type { Prisma } from './generated/client.js';
import { PrismaService } from './prisma.service.js';

/** The database, or a transaction in it that somebody else ends. */
export type Database = PrismaService | Prisma.TransactionClient;

/**
 * Does all of `work` or nothing: in the transaction that is open, else in one of its own, which waits a second at the most
 * for what others have locked, as the connections that wait are wanted by requests.
 */
export function atomically<Result>(
  database: Database,
  work: (transaction: Prisma.TransactionClient) => Promise<Result>,
): Promise<Result> {
  if (!('$transaction' in database)) {
    return work(database);
  }
  return database.$transaction(async (transaction) => {
    await transaction.$executeRaw`SET LOCAL lock_timeout = '1s'`;
    return work(transaction);
  });
}
