import { z } from 'zod';
import { PrismaService } from '../../src/database/access/prisma.service.js';
import { calendarDate, toCalendarDate } from '../../src/schemas/calendar-date.js';
import { jsonSchema } from '../../src/schemas/json-schema.js';
import { createDatabase, type TestDatabase } from '../support/database/database.js';

const schema = z.object({ birthDate: calendarDate('Date of birth.').optional() });

describe('a calendar date', () => {
  let database: TestDatabase;
  let prisma: PrismaService;
  beforeAll(async () => {
    database = await createDatabase();
    prisma = new PrismaService({ DATABASE_URL: database.url, DATABASE_POOL_SIZE: 4 });
  });
  afterAll(async () => {
    await prisma.$disconnect();
    await prisma.onApplicationShutdown();
    await database.drop();
  });

  it.each(['0001-01-01', '1582-10-10', '2024-02-29', '2027-03-05', '9999-12-31'])(
    'is stored by PostgreSQL, and read by Prisma, as it was sent: %s',
    async (birthDate) => {
      expect(schema.parse({ birthDate })).toEqual({ birthDate });
      const [row] = await prisma.$queryRaw<{ day: Date }[]>`SELECT ${birthDate}::date AS day`;
      expect(toCalendarDate(row?.day ?? null)).toBe(birthDate);
    },
  );

  it.each([
    ['0000-12-31'],
    ['2027-02-29'],
    ['2027-13-01'],
    ['2027-3-5'],
    ['10000-01-01'],
    ['-0001-01-01'],
    ['2027-03-05T00:00:00Z'],
    ['infinity'],
    [' 2027-03-05'],
    [''],
    [null],
    [20270305n],
  ])('is not %p', (birthDate) => {
    const { error } = schema.safeParse({ birthDate });
    expect(error?.issues.map(({ message }) => message)).toEqual(['must be a date such as 2027-03-05']);
  });

  it('says that it is required if it is missing', () => {
    const { error } = z.object({ day: calendarDate('A day.') }).safeParse({});
    expect(error?.issues.map(({ message }) => message)).toEqual(['is required']);
  });

  it('is documented by a pattern that can be read, as absent if there is none', () => {
    expect(jsonSchema(schema, 'input')).toMatchObject({
      properties: {
        birthDate: {
          type: 'string',
          format: 'date',
          maxLength: 10,
          pattern: String.raw`^\d{4}-\d{2}-\d{2}$`,
          description: 'Date of birth.',
        },
      },
    });
    expect(toCalendarDate(null)).toBeUndefined();
  });
});
