import { isDatabaseUnavailable } from '../../src/database/access/availability.js';
import { inTransaction } from '../../src/database/access/in-transaction.js';
import { PrismaService } from '../../src/database/access/prisma.service.js';
import { createDatabase, type TestDatabase } from '../support/database/database.js';

let database: TestDatabase;
let prisma: PrismaService;

beforeAll(async () => {
  database = await createDatabase();
  prisma = new PrismaService({ DATABASE_URL: database.url, DATABASE_POOL_SIZE: 2 });
});
afterAll(async () => {
  await prisma.onApplicationShutdown();
  await database.drop();
});

describe('isDatabaseUnavailable', () => {
  it('returns true for a serialization failure, which may succeed later', async () => {
    await database.query(`INSERT INTO pets (name, category_id) VALUES ('Rex', 7)`);
    const conflict = prisma
      .$transaction(
        async (transaction) => {
          await transaction.pet.count();
          await database.query('UPDATE pets SET category_id = 8');
          await transaction.pet.updateMany({ data: { categoryId: 9n } });
        },
        // An administrator may have set this for the whole database.
        { isolationLevel: 'RepeatableRead' },
      )
      .catch((error: unknown) => error);
    expect(await conflict).toBeInstanceOf(Error);
    expect(isDatabaseUnavailable(await conflict)).toBe(true);
  });
});

describe('inTransaction', () => {
  it('repeats a transaction after a serialization failure', async () => {
    await prisma.pools.transactions.query("SET default_transaction_isolation = 'repeatable read'");
    let runs = 0;
    const changed = await inTransaction(prisma, async (transaction) => {
      runs += 1;
      await transaction.pet.count();
      if (runs === 1) {
        await database.query('UPDATE pets SET category_id = 10');
      }
      return transaction.pet.updateMany({ data: { categoryId: 11n } });
    });
    expect([runs, changed]).toEqual([2, { count: 1 }]);
  });
});
