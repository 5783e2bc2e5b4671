import { PrismaService } from '../../../src/database/access/prisma.service.js';
import { UsageJournal } from '../../../src/usage/usage.journal.js';
import { UsageRecorder } from '../../../src/usage/usage.recorder.js';
import type { TestApplication } from '../service/application.js';

/** Waits until all usage is recorded. */
export async function recordUsage({ app }: TestApplication): Promise<void> {
  await app.get(UsageRecorder).flush();
}

/** Adds the batches in the journal to the usage table, as every read does first. */
export async function aggregateUsage(databaseUrl: string): Promise<void> {
  const prisma = new PrismaService({ DATABASE_URL: databaseUrl, DATABASE_POOL_SIZE: 2 });
  await new UsageJournal(prisma).aggregate();
  await prisma.onApplicationShutdown();
}
