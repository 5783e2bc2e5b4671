import { PrismaService } from '../../../src/database/prisma.service.js';
import { QueryRunner } from '../../../src/database/query-runner.js';
import { UsageJournal } from '../../../src/usage/usage.journal.js';
import { TestClock } from '../counters/clock.js';

/** Adds the batches in the journal to the usage table, as every read does first. */
export async function aggregateUsage(databaseUrl: string): Promise<void> {
  const prisma = new PrismaService({ DATABASE_URL: databaseUrl, DATABASE_POOL_SIZE: 2 });
  await new UsageJournal(new QueryRunner(prisma), new TestClock()).aggregate();
  await prisma.onApplicationShutdown();
}
