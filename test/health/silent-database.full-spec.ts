import { PrismaService } from '../../src/database/prisma.service.js';
import { createDatabase, type TestDatabase } from '../support/database/database.js';

/** The timeout of a query, with tolerance for a busy machine. */
const WAIT_MS = 4000 + 800;

describe('a database that does not respond in a transaction', () => {
  let database: TestDatabase;
  let prisma: PrismaService;
  beforeEach(async () => {
    database = await createDatabase();
    prisma = new PrismaService({ DATABASE_URL: database.url, DATABASE_POOL_SIZE: 2 });
  });
  afterEach(async () => {
    await prisma.onApplicationShutdown();
    await database.drop();
  });

  const backend = async (connection: Pick<PrismaService, '$queryRaw'>) => {
    const [row] = await connection.$queryRaw<{ pid: number }[]>`SELECT pg_backend_pid() AS pid`;
    return row?.pid ?? 0;
  };

  it('is waited for once, and its connection is closed with the transaction', async () => {
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
  });
});
