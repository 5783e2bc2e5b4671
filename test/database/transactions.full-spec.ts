import { inTransaction } from '../../src/database/in-transaction.js';
import { PrismaService } from '../../src/database/prisma.service.js';
import { createDatabase } from '../support/database/database.js';
import { startDatabaseProxy } from '../support/database/database-proxy.js';
import { eventually } from '../support/eventually.js';

it('a transaction on a silently broken network holds its locks for at most 10 s', async () => {
  const database = await createDatabase();
  const proxy = await startDatabaseProxy(database.url);
  const prisma = new PrismaService({ DATABASE_URL: proxy.url, DATABASE_POOL_SIZE: 2 });
  const isFree = async () => {
    const [row] = await database.query<{ free: boolean }>('SELECT pg_try_advisory_xact_lock(7) AS free');
    return row?.free;
  };
  const lost = inTransaction(prisma, async (transaction) => {
    await transaction.$executeRaw`SELECT pg_advisory_xact_lock(7)`;
    expect(await isFree()).toBe(false);
    proxy.hang();
    await transaction.$executeRaw`SELECT 1`;
  });
  await expect(lost).rejects.toThrow();
  await eventually(async () => expect(await isFree()).toBe(true), 15_000);
  proxy.close();
  await prisma.onApplicationShutdown();
  await database.drop();
}, 60_000);
