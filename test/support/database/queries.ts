import { PrismaService } from '../../../src/database/prisma.service.js';
import { namedStatement, QueryRunner } from '../../../src/database/query-runner.js';
import type { Environment } from '../../../src/settings/environment.js';
import type { TestApplication } from '../service/application.js';

/** Returns how often PostgreSQL has made custom and generic plans for the prepared statements of the one connection that is free. */
export function plansMade({ app }: TestApplication, statements: string): Promise<[string, number, number][]> {
  const query = `SELECT regexp_replace(name, '-\\w{12}$', ''), custom_plans::int, generic_plans::int
    FROM pg_prepared_statements WHERE name ~ '${statements}' ORDER BY name`;
  return app.get(QueryRunner).run<[string, number, number]>(namedStatement('plans', query), []);
}

/** Returns a query runner of its own; its idle connections keep no process alive, and a database is dropped all the same. */
export function openQueries(environment: Environment): QueryRunner {
  return new QueryRunner(new PrismaService(environment));
}
