import type { Prisma } from './generated/client.js';
import { PrismaService } from './prisma.service.js';

/** The database, or a transaction in it that somebody else ends. */
export type Database = PrismaService | Prisma.TransactionClient;

/** Does all of `work` or nothing: in the transaction that is open, else in one of its own. */
export function atomically<Result>(
  database: Database,
  work: (transaction: Prisma.TransactionClient) => Promise<Result>,
): Promise<Result> {
  return '$transaction' in database ? database.$transaction(work) : work(database);
}
