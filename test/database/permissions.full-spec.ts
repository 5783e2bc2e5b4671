import { randomBytes } from 'node:crypto';
import { Logger } from '@nestjs/common';
import { applyPendingMigrations } from '../../src/database/migrations/migrations.js';
import type { Environment } from '../../src/process/settings/environment.js';
import { startApplication, type TestApplication } from '../support/service/application.js';
import { createDatabase, type TestDatabase } from '../support/database/database.js';
import { eventually } from '../support/eventually.js';
import { expectError } from '../support/http/expectations.js';
import { send } from '../support/http/http.js';
import { issueKey } from '../support/keys/keys.js';
import { run } from '../support/service/service-process.js';

describe('a service whose role lacks privileges', () => {
  const role = `service_${randomBytes(6).toString('hex')}`;
  let database: TestDatabase;
  let store: TestApplication | undefined;
  let errors: jest.SpyInstance;

  beforeAll(async () => {
    database = await createDatabase();
    await database.query(`CREATE ROLE ${role} LOGIN PASSWORD 'secret'`);
    await database.query(`GRANT ALL ON ALL TABLES IN SCHEMA public TO ${role}`);
    await database.query(`GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO ${role}`);
  });
  beforeEach(() => {
    errors = jest.spyOn(Logger.prototype, 'error').mockImplementation();
    jest.spyOn(Logger.prototype, 'warn').mockImplementation();
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await store?.close();
    store = undefined;
  });
  afterAll(async () => {
    await database.query(`DROP OWNED BY ${role}`);
    await database.query(`DROP ROLE ${role}`);
    await database.drop();
  });

  async function start(environment: Partial<Environment> = {}): Promise<TestApplication> {
    store = await startApplication({
      database,
      environment: { DATABASE_URL: urlFor(role), EXPERIMENTAL: true, ...environment },
    });
    return store;
  }

  const urlFor = (username: string) =>
    Object.assign(new URL(database.url), { username, password: 'secret' }).href;
  const logLines = () => errors.mock.calls.map(([line]) => String(line));

  /**
   * Expects a service that is not ready, one log line with what to grant, and that it is ready once that is
   * granted.
   */
  async function expectReadyAfter(url: string, what: string, grant: string): Promise<void> {
    expect((await send(`${url}/readyz`)).status).toBe(503);
    expect(logLines()).toEqual([`Not ready: permission denied for ${what}: run "${grant}"`]);
    await database.query(grant);
    await eventually(async () => expect((await send(`${url}/readyz`)).status).toBe(200));
  }

  it('makes a terminal command fail with one line that names the missing privilege', async () => {
    await database.query(`REVOKE SELECT ON plans FROM ${role}`);
    const settings = { APP_ENV: 'staging', DATABASE_URL: urlFor(role) };
    expect(await run('cli/admin.js', settings, 'plans', 'list')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /^The role of DATABASE_URL lacks a privilege, which the owner of the table may GRANT: .*permission denied for table plans.*\n$/,
      ),
    });
    await database.query(`GRANT SELECT ON plans TO ${role}`);
  });

  it('returns 503 when a privilege is revoked while it runs, and logs which', async () => {
    const { key } = await issueKey(database, { plan: 'business' });
    const { url } = await start();
    expect((await send(`${url}/readyz`)).status).toBe(200);
    await database.query(`REVOKE SELECT ON pets FROM ${role}`);
    expectError(await send(`${url}/v1/pets`, { key }), 503, 'service_unavailable');
    await eventually(async () => expect((await send(`${url}/readyz`)).status).toBe(503));
    await expectReadyAfter(url, 'pets', `GRANT SELECT ON pets TO ${role}`);
  });

  it('logs the schema that it may not use, rather than missing migrations', async () => {
    await database.query('REVOKE USAGE ON SCHEMA public FROM PUBLIC');
    const { url } = await start();
    await expectReadyAfter(url, 'schema public', `GRANT USAGE ON SCHEMA public TO ${role}`);
  });

  it.each(['shop', 'Mein Laden'])(
    'logs the schema of its address that it may not use: %s',
    async (schema) => {
      const named = (url: string) => {
        const address = new URL(url);
        address.searchParams.set('schema', schema);
        return address.href;
      };
      await applyPendingMigrations(named(database.url));
      await database.query(`GRANT ALL ON ALL TABLES IN SCHEMA "${schema}" TO ${role}`);
      await database.query(`GRANT ALL ON ALL SEQUENCES IN SCHEMA "${schema}" TO ${role}`);
      const { url } = await start({ DATABASE_URL: named(urlFor(role)) });
      const quoted = schema === 'shop' ? schema : `"${schema}"`;
      await expectReadyAfter(url, `schema ${quoted}`, `GRANT USAGE ON SCHEMA ${quoted} TO ${role}`);
    },
  );

  it('is not ready while the role of its counters lacks privileges, and logs what to grant', async () => {
    const counting = `counting_${randomBytes(6).toString('hex')}`;
    await database.query(`CREATE ROLE ${counting} LOGIN PASSWORD 'secret'`);
    const { url } = await start({ DIRECT_DATABASE_URL: urlFor(counting) });
    const grant = `GRANT SELECT, INSERT, UPDATE, DELETE ON rate_limit_counters TO ${counting}`;
    await database.query(`GRANT USAGE ON SCHEMA public TO ${counting}`);
    await expectReadyAfter(url, 'rate_limit_counters', grant);
    await store?.close();
    store = undefined;
    await database.query(`DROP OWNED BY ${counting}`);
    await database.query(`DROP ROLE ${counting}`);
  });

  it('is ready without privileges on counters of another role, and counts', async () => {
    await database.query(`REVOKE ALL ON rate_limit_counters FROM ${role}`);
    const { key } = await issueKey(database, { plan: 'business' });
    const { url } = await start({ DIRECT_DATABASE_URL: database.url });
    expect((await send(`${url}/readyz`)).status).toBe(200);
    expect(logLines()).toStrictEqual([]);
    const { status, headers } = await send(`${url}/v1/pets`, { key });
    expect([status, headers.get('x-ratelimit-degraded')]).toEqual([200, null]);
    await database.query(`GRANT ALL ON rate_limit_counters TO ${role}`);
  });

  it('is ready with only UPDATE on the sequences', async () => {
    await database.query(`REVOKE ALL ON ALL SEQUENCES IN SCHEMA public FROM ${role}`);
    await database.query(`GRANT UPDATE ON ALL SEQUENCES IN SCHEMA public TO ${role}`);
    const { key } = await issueKey(database, { plan: 'business' });
    const { url } = await start();
    const body = { name: 'Rex', categoryId: 1 };
    expect((await send(`${url}/v1/pets`, { method: 'POST', key, body })).status).toBe(201);
    expect((await send(`${url}/readyz`)).status).toBe(200);
  });
});
