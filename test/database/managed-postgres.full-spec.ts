import { toDriverAddress } from '../../prisma/database-address.mjs';
import { query } from '../support/database/database.js';
import { prisma } from '../support/database/prisma-cli.js';
import { send } from '../support/http/http.js';
import { issueKey } from '../support/keys/keys.js';
import { DebianPostgres, describeOnDebianPostgres } from '../support/programs/debian-postgres.js';
import { run } from '../support/service/service-process.js';
import { ServiceProcesses } from '../support/service/service-processes.js';

/** Amazon Aurora's response to it, unless replication is logical. */
const AURORA = `
SET allow_system_table_mods = on;
ALTER FUNCTION pg_catalog.pg_current_wal_lsn() RENAME TO own_pg_current_wal_lsn;
CREATE FUNCTION pg_catalog.pg_current_wal_lsn() RETURNS pg_lsn LANGUAGE plpgsql AS $$ BEGIN
  RAISE EXCEPTION 'wal_level must be set to ''logical''' USING ERRCODE = '55000';
END $$;`;

/** Providers keep to themselves: the write-ahead log, files, control data, the sessions of others. */
const WITHHELD = `
DO $$ DECLARE each regprocedure; BEGIN
  FOR each IN
    SELECT oid FROM pg_proc
    WHERE pronamespace = 'pg_catalog'::regnamespace
      AND proname <> 'pg_current_wal_lsn'
      AND proname ~ 'wal|^pg_(ls_|read_|stat_|control_|reload|rotate|switch|backup|create_restore)'
  LOOP
    EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', each);
  END LOOP;
END $$;
REVOKE SELECT ON pg_stat_activity, pg_stat_replication, pg_stat_wal, pg_stat_ssl FROM PUBLIC;
CREATE ROLE customer LOGIN`;

describeOnDebianPostgres('a PostgreSQL whose provider withholds functions', () => {
  let server: DebianPostgres;
  const services = new ServiceProcesses();

  beforeAll(async () => {
    server = await DebianPostgres.create();
    await server.configure(`unix_socket_directories = '${server.folder}'`);
    await server.start();
    // The new database has what its template has.
    for (const statements of [
      AURORA,
      WITHHELD,
      'CREATE DATABASE customer OWNER customer',
      'CREATE DATABASE socket OWNER customer',
    ]) {
      await query(server.url('template1'), statements);
    }
  });
  afterEach(() => services.end('SIGTERM'));
  afterAll(() => server.remove());

  it.each([
    ['by an address with a host', () => server.url('customer', 'customer')],
    ['by a socket', () => `postgres://customer@/socket?host=${server.folder}&port=${server.port}`],
  ])('is migrated, seeded and served %s', async (_how, address) => {
    const url = address();
    const settings = { DATABASE_URL: url, APP_ENV: 'staging', HOST: '127.0.0.1' };
    expect(await run('cli/admin.js', settings, 'migrate')).toMatchObject({ code: 0, stderr: '' });
    expect(await run('cli/admin.js', settings, 'seed')).toMatchObject({ code: 0, stderr: '' });
    expect(await prisma(url, ['migrate', 'status'])).toMatchObject({ code: 0 });
    const { key } = await issueKey({ url: toDriverAddress(url) }, { plan: 'business' });
    const store = await services.start(settings).ready();
    const body = { name: 'Rex', categoryId: 1 };
    expect(await send(`${store}/v1/pets`, { method: 'POST', key, body })).toMatchObject({ status: 201 });
    const { status, headers } = await send(`${store}/v1/pets`, { key });
    expect([status, headers.get('x-ratelimit-degraded')]).toEqual([200, null]);
  });
});
