import { inTransaction } from '../../src/database/access/in-transaction.js';
import { PrismaService } from '../../src/database/access/prisma.service.js';
import { createDatabase, type TestDatabase } from '../support/database/database.js';
import { startDatabaseProxy } from '../support/programs/database-proxy.js';
import { eventually } from '../support/eventually.js';

/** The timeout of a query, with tolerance for a busy machine. */
const WAIT_MS = 4000 + 800;

describe('a transaction', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createDatabase();
  });
  afterAll(() => database.drop());

  const connect = (DATABASE_URL: string) => new PrismaService({ DATABASE_URL, DATABASE_POOL_SIZE: 2 });

  it('on a silently broken network holds its locks for at most 10 s', async () => {
    const proxy = await startDatabaseProxy(database.url);
    const prisma = connect(proxy.url);
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
  });

  it('waits once for a database that does not respond, and its connection is closed with it', async () => {
    const prisma = connect(database.url);
    const backend = async (connection: Pick<PrismaService, '$queryRaw'>) => {
      const [row] = await connection.$queryRaw<{ pid: number }[]>`SELECT pg_backend_pid() AS pid`;
      return row?.pid ?? 0;
    };
    let pid = 0;
    const startMs = performance.now();
    try {
      const hanging = prisma.$transaction(async (transaction) => {
        pid = await backend(transaction);
        process.kill(pid, 'SIGSTOP');
        await transaction.pet.create({ data: { name: 'Rex', categoryId: 1n } });
      });
      await expect(hanging).rejects.toThrow(/Query read timeout/);
      expect(performance.now() - startMs).toBeLessThan(WAIT_MS);
      // No other query waits on the connection without a response.
      expect(await backend(prisma)).not.toBe(pid);
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    expect(await prisma.pet.count()).toBe(0);
    await prisma.onApplicationShutdown();
  });
});
