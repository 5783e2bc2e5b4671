import { isDatabaseUnavailable } from '../../src/database/availability.js';
import { PrismaService } from '../../src/database/prisma.service.js';
import { startDatabaseProxy } from '../support/programs/database-proxy.js';
import { createDatabase } from '../support/database/database.js';

describe('PrismaService', () => {
  it('gives transactions connections of their own', async () => {
    const database = await createDatabase();
    const prisma = new PrismaService({ DATABASE_URL: database.url, DATABASE_POOL_SIZE: 4 });
    try {
      expect(await prisma.pet.count()).toBe(0);
      expect(prisma.pools).toMatchObject({
        queries: { options: { max: 3 }, totalCount: 1, idleCount: 1, waitingCount: 0 },
        transactions: { options: { max: 1 }, totalCount: 0 },
      });
      await prisma.$transaction(async (transaction) => {
        expect(await transaction.pet.count()).toBe(0);
        expect(prisma.pools.transactions).toMatchObject({ totalCount: 1, idleCount: 0 });
        expect(await prisma.pet.count()).toBe(0);
      });
      expect(prisma.pools.queries.totalCount).toBe(1);
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
