import { RefusedOrderError } from '../auth/key.service.js';
import { findEmbeddedPostgres } from '../embedded-postgres/embedded-postgres.js';
import { PrismaService } from '../database/prisma.service.js';
import { type Environment, readProcessEnvironment } from '../environment.js';
import { reasonOf } from '../failure.js';

const EXIT_REFUSED = 1;

/**
 * Runs a command of the terminal on the database of `DATABASE_URL`, else on the embedded one that runs now. A
 * failure is told on standard error, and by exit code 1.
 */
export async function runOnDatabase(
  work: (prisma: PrismaService, environment: Environment) => Promise<void>,
): Promise<void> {
  try {
    const environment = await databaseEnvironment();
    const prisma = new PrismaService(environment);
    try {
      await work(prisma, environment);
    } finally {
      await prisma.$disconnect();
    }
  } catch (error) {
    process.stderr.write(`${reasonOf(error)}\n`);
    process.exitCode = EXIT_REFUSED;
  }
}

async function databaseEnvironment(): Promise<Environment> {
  const environment = readProcessEnvironment();
  if (environment.DATABASE_URL !== undefined) {
    return environment;
  }
  const url = await findEmbeddedPostgres(environment.DATA_DIR);
  if (url === null) {
    throw new RefusedOrderError(
      `No embedded database runs in ${environment.DATA_DIR}: start the service first ("npm start"), or set DATABASE_URL.`,
    );
  }
  return { ...environment, DATABASE_URL: url };
}
