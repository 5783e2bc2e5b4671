import { PrismaService } from '../../../src/database/prisma.service.js';
import { QueryRunner } from '../../../src/database/query-runner.js';
import type { Environment } from '../../../src/settings/environment.js';

/** Returns a query runner of its own; its idle connections keep no process alive, and a database is dropped all the same. */
export function openQueries(environment: Environment): QueryRunner {
  return new QueryRunner(new PrismaService(environment));
}
