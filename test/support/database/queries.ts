import { PrismaService } from '../../../src/database/access/prisma.service.js';
import type { Environment } from '../../../src/process/settings/environment.js';
import type { TestApplication } from '../service/application.js';

interface Plans {
  name: string;
  custom: number;
  generic: number;
}

/**
 * Returns how often PostgreSQL has made custom and generic plans for the prepared statements of the one
 * connection that is free.
 */
export async function plansMade({ app }: TestApplication, statements: string) {
  const { rows } = await app.get(PrismaService).pools.queries.query<Plans>({
    text: `SELECT
        regexp_replace(name, '-\\w{12}$', '') AS name,
        custom_plans::int AS custom, generic_plans::int AS generic
      FROM pg_prepared_statements WHERE name ~ $1 OR statement ~ $1 ORDER BY name`,
    values: [statements],
  });
  return rows.map(({ name, custom, generic }) => [name, custom, generic] as const);
}

/**
 * Returns a new client. Its idle connections keep no process alive and do not prevent a database from being
 * dropped.
 */
export function openPrisma(environment: Environment): PrismaService {
  return new PrismaService(environment);
}
