import { isDatabaseUnavailable } from '../../src/database/availability.js';
import { PrismaService } from '../../src/database/prisma.service.js';
import { namedStatement, QueryRunner } from '../../src/database/query-runner.js';
import { startDatabaseProxy } from '../support/database/database-proxy.js';
import { createDatabase } from '../support/database/database.js';

// The types of a service without a browser lack this.
const { WebAssembly } = globalThis as unknown as {
  WebAssembly: { Module: new (bytes: Uint8Array) => object };
};

describe('PrismaService', () => {
  afterEach(() => jest.restoreAllMocks());

  it('lends its connections to QueryRunner, and loads the engine of Prisma only at the first use of the client', async () => {
    const { Module } = WebAssembly;
    const modules = jest.spyOn(WebAssembly, 'Module').mockImplementation((bytes) => new Module(bytes));
    const database = await createDatabase();
    const prisma = new PrismaService({ DATABASE_URL: database.url, DATABASE_POOL_SIZE: 4 });
    try {
      const one = namedStatement('one', 'SELECT 1');
      expect(await new QueryRunner(prisma).run(one, [])).toEqual([[1]]);
      expect(prisma.pools).toMatchObject({
        prisma: { options: { max: 1 }, totalCount: 0 },
        queries: { options: { max: 3 }, totalCount: 1, idleCount: 1, waitingCount: 0 },
      });
      expect(modules).not.toHaveBeenCalled();
      expect(await prisma.pet.count()).toBe(0);
      expect(modules).toHaveBeenCalledTimes(1);
      expect(prisma.pools.prisma.totalCount).toBe(1);
    } finally {
      await prisma.onApplicationShutdown();
      await database.drop();
    }
    expect(Object.values(prisma.pools).map(({ totalCount }) => totalCount)).toEqual([0, 0]);
  });

  it('fails as unavailable when the database is away at its first use, and works once that is back', async () => {
    const database = await createDatabase();
    const proxy = await startDatabaseProxy(database.url);
    proxy.goAway();
    const prisma = new PrismaService({ DATABASE_URL: proxy.url, DATABASE_POOL_SIZE: 4 });
    try {
      const inTransaction = () => prisma.$transaction((transaction) => transaction.pet.count());
      const unavailable = async (work: () => Promise<unknown>) =>
        isDatabaseUnavailable(await work().catch((error: unknown) => error));
      expect(await unavailable(() => prisma.pet.count())).toBe(true);
      expect(await unavailable(inTransaction)).toBe(true);
      await proxy.comeBack();
      expect(await prisma.pet.count()).toBe(0);
      expect(await inTransaction()).toBe(0);
    } finally {
      await prisma.onApplicationShutdown();
      proxy.close();
      await database.drop();
    }
  });
});
