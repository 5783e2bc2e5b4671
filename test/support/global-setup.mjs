import { chmod, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { startEmbeddedPostgres } from '../../dist/database/migrations/embedded/embedded-postgres.js';
import { applyPendingMigrations } from '../../dist/database/migrations/migrations.js';
import { PrismaService } from '../../dist/database/access/prisma.service.js';
import { seedPlans } from '../../dist/start/plans.js';

const PREFIX = 'animal-store-test-';
const ABANDONED_AFTER_MS = 3_600_000;

/** Removes what a killed run left behind. */
async function removeAbandoned() {
  for (const name of await readdir(tmpdir())) {
    const dataDir = path.join(tmpdir(), name);
    if (name.startsWith(PREFIX) && Date.now() - (await stat(dataDir)).mtimeMs > ABANDONED_AFTER_MS) {
      await rm(dataDir, { recursive: true });
    }
  }
}

/** Starts one PostgreSQL for all tests, with a template that every test file's database is copied from. */
export default async function setUp() {
  await removeAbandoned();
  const dataDir = await mkdtemp(path.join(tmpdir(), PREFIX));
  // For PostgreSQL, which is another user if this one is root.
  await chmod(dataDir, 0o711);
  const postgres = await startEmbeddedPostgres(dataDir);
  globalThis.testPostgres = { dataDir, postgres };
  const template = new URL(postgres.url);
  template.pathname = '/template_store';
  const server = new pg.Client({ connectionString: postgres.url });
  await server.connect();
  // Nothing in the tests must survive a crash of the machine, live long, or withstand a guess.
  for (const setting of [
    'fsync = off',
    'full_page_writes = off',
    'autovacuum = off',
    'scram_iterations = 1',
  ]) {
    await server.query(`ALTER SYSTEM SET ${setting}`);
  }
  await server.query('SELECT pg_reload_conf()');
  const { username, password } = template;
  await server.query(`SET scram_iterations = 1; ALTER ROLE ${username} PASSWORD '${password}'`);
  await server.query('CREATE DATABASE template_store');
  await applyPendingMigrations(template.href);
  const prisma = new PrismaService({ DATABASE_URL: template.href, DATABASE_POOL_SIZE: 2 });
  await seedPlans(prisma);
  await prisma.onApplicationShutdown();
  await server.end();
  process.env.TEST_DATABASE_URL = postgres.url;
  process.env.TEST_FOLDER = dataDir;
}
