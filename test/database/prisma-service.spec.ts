import { databaseReason, isDatabaseUnavailable } from '../../src/database/access/availability.js';
import { PrismaService } from '../../src/database/access/prisma.service.js';
import { namedStatement } from '../../src/database/access/statement.js';
import { startDatabaseProxy } from '../support/programs/database-proxy.js';
import { createDatabase } from '../support/database/database.js';

const ONE = namedStatement<{ one: number }>('one', 'SELECT 1 AS one');

describe('PrismaService', () => {
  it.each([
    [2, 1, 1],
    [3, 1, 2],
    [4, 2, 2],
    [9, 2, 7],
    [12, 3, 9],
    [100, 30, 70],
  ])(
    'divides %d connections, of which its client has two if it can',
    async (DATABASE_POOL_SIZE, own, rest) => {
      const prisma = new PrismaService({
        DATABASE_URL: 'postgresql://127.0.0.1:1/store',
        DATABASE_POOL_SIZE,
      });
      expect(prisma.pools.transactions.options.max).toBe(own);
      expect(prisma.pools.queries.options.max).toBe(rest);
      await prisma.onApplicationShutdown();
    },
  );

  it('gives its client and statements connections of their own', async () => {
    const database = await createDatabase();
    const prisma = new PrismaService({ DATABASE_URL: database.url, DATABASE_POOL_SIZE: 4 });
    try {
      expect(await prisma.sql.query(ONE)).toEqual([{ one: 1 }]);
      expect(prisma.pools).toMatchObject({
        queries: { options: { max: 2 }, totalCount: 1, idleCount: 1, waitingCount: 0 },
        transactions: { options: { max: 2 }, totalCount: 0 },
      });
      await prisma.$transaction(async (transaction) => {
        expect(await transaction.pet.count()).toBe(0);
        expect(prisma.pools.transactions).toMatchObject({ totalCount: 1, idleCount: 0 });
        expect(await prisma.sql.query(ONE)).toEqual([{ one: 1 }]);
      });
      expect(prisma.pools.queries.totalCount).toBe(1);
    } finally {
      await prisma.onApplicationShutdown();
      await database.drop();
    }
    expect(Object.values(prisma.pools).map(({ totalCount }) => totalCount)).toEqual([0, 0]);
  });

  it('reads a statement as $queryRaw does', async () => {
    const database = await createDatabase();
    const prisma = new PrismaService({ DATABASE_URL: database.url, DATABASE_POOL_SIZE: 4 });
    const TYPES = namedStatement(
      'types',
      `SELECT 1::int AS int, 9223372036854775807::bigint AS bigint, 1.5::float8 AS float, true AS bool,
         'a' AS text, NULL::bigint AS nothing, 'sold'::pet_status AS enum, '{"a":[1]}'::jsonb AS json,
         '2030-12-05T00:00:00.123Z'::timestamptz AS time, ARRAY['a','b'] AS texts, ARRAY[1,2] AS ints,
         '00000000-0000-4000-8000-000000000001'::uuid AS uuid`,
    );
    try {
      expect(await prisma.sql.query(TYPES)).toEqual(await prisma.$queryRawUnsafe(TYPES.text));
    } finally {
      await prisma.onApplicationShutdown();
      await database.drop();
    }
  });

  it('fails if the database is unavailable at its first use, and works once it is back', async () => {
    const database = await createDatabase();
    const proxy = await startDatabaseProxy(database.url);
    proxy.goAway();
    const prisma = new PrismaService({ DATABASE_URL: proxy.url, DATABASE_POOL_SIZE: 4 });
    try {
      const inTransaction = () => prisma.$transaction((transaction) => transaction.pet.count());
      const unavailable = async (work: () => Promise<unknown>) =>
        isDatabaseUnavailable(await work().catch((error: unknown) => error));
      expect(await unavailable(() => prisma.pet.count())).toBe(true);
      expect(await unavailable(() => prisma.sql.query(ONE))).toBe(true);
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

  it('keeps the address of a database that refuses connections in the reason of a failure', async () => {
    const database = await createDatabase();
    const proxy = await startDatabaseProxy(database.url);
    const { host } = new URL(proxy.url);
    proxy.close();
    const prisma = new PrismaService({ DATABASE_URL: proxy.url, DATABASE_POOL_SIZE: 4 });
    try {
      for (const work of [() => prisma.sql.query(ONE), () => prisma.pet.count()]) {
        const error: unknown = await work().catch((reason: unknown) => reason);
        expect(databaseReason(error)).toContain(host);
      }
    } finally {
      await prisma.onApplicationShutdown();
      await database.drop();
    }
  });
});
