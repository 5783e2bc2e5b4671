import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { DebianPostgres, describeOnDebianPostgres } from '../support/programs/debian-postgres.js';
import { eventually, until } from '../support/eventually.js';
import { send } from '../support/http/http.js';
import { issueKey } from '../support/keys/keys.js';
import { prisma } from '../support/database/prisma-cli.js';
import { query } from '../support/database/database.js';
import { run } from '../support/service/service-process.js';
import { ServiceProcesses } from '../support/service/service-processes.js';

/**
 * Two authorities, of which the service trusts one, a server certificate of each, and a client certificate.
 */
const CERTIFICATES = `
for authority in ours theirs; do
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 \\
    -subj "/CN=The CA that is $authority" -keyout $authority.key -out $authority.crt
  openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=localhost \\
    -keyout server-$authority.key -out server-$authority.csr
  printf 'subjectAltName = DNS:localhost' >names
  openssl x509 -req -in server-$authority.csr -days 1 -CA $authority.crt \\
    -CAkey $authority.key -CAcreateserial \\
    -extfile names -out server-$authority.crt
done
openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=animal_store \\
  -keyout client.key -out client.csr
openssl x509 -req -in client.csr -days 1 -CA ours.crt -CAkey ours.key -CAcreateserial -out client.crt
`;

/** Requires TLS for everyone, and a client certificate for this one role. */
const HBA = `
hostssl all animal_store all cert
hostssl all all all trust
`;

const WRONG_CA = 'self-signed certificate in certificate chain';
const WRONG_NAME = "Hostname/IP does not match certificate's altnames";

describeOnDebianPostgres('a PostgreSQL that requires TLS', () => {
  let server: DebianPostgres;
  let key: string;
  /** In production mode, in which the start itself does not use the database. */
  const services = new ServiceProcesses();

  beforeAll(async () => {
    server = await DebianPostgres.create('ssl = on');
    await server.shell(CERTIFICATES);
    await server.configure(`ssl_ca_file = '${path.join(server.folder, 'ours.crt')}'`);
    await writeFile(path.join(server.data, 'pg_hba.conf'), HBA);
    await presentCertificate('ours');
    await server.start();
    expect(await prisma(urlWith(verified()), ['migrate', 'deploy'])).toMatchObject({ code: 0 });
    expect(await run('cli/admin.js', settings(verified()), 'seed')).toMatchObject({ code: 0 });
    await query(
      urlWith(verified()),
      `CREATE ROLE animal_store LOGIN;
       GRANT ALL ON ALL TABLES IN SCHEMA public TO animal_store;
       GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO animal_store`,
    );
    ({ key } = await issueKey({ url: urlWith(verified()) }, { plan: 'business' }));
  });
  afterEach(() => services.end('SIGTERM'));
  afterAll(() => server.remove());

  const file = (name: string) => path.join(server.folder, name);
  const verified = (authority = 'ours') => `sslmode=verify-full&sslrootcert=${file(`${authority}.crt`)}`;
  const urlWith = (parameters: string, host = 'localhost', user = 'postgres') =>
    `postgres://${user}@${host}:${server.port}/postgres?${parameters}`;
  const settings = (...url: Parameters<typeof urlWith>) => ({
    DATABASE_URL: urlWith(...url),
    APP_ENV: 'staging',
    HOST: '127.0.0.1',
  });

  /** Makes the server use the certificate of this authority for new connections. */
  async function presentCertificate(authority: string): Promise<void> {
    await server.shell(`
      cp server-${authority}.crt "$PGDATA/server.crt"
      cp server-${authority}.key "$PGDATA/server.key"
      chmod 600 "$PGDATA/server.key"
      ! pg_ctl -D "$PGDATA" status >/dev/null || pg_ctl -D "$PGDATA" reload`);
  }

  const listKeys = (env: Record<string, string>) => run('cli/admin.js', env, 'keys', 'list');
  const cutConnections = (authority: string) =>
    query(
      urlWith(verified(authority)),
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'animal-store%'`,
    );

  const statuses = (url: string, target = '/v1/pets') =>
    Promise.all(['/readyz', target].map(async (each) => (await send(url + each, { key })).status));

  /** The service's connections, by name, and whether they are encrypted. */
  const connections = () =>
    query<{ name: string; ssl: boolean }>(
      urlWith(verified()),
      `SELECT DISTINCT application_name AS name, ssl FROM pg_stat_activity JOIN pg_stat_ssl USING (pid)
       WHERE application_name LIKE 'animal-store%' ORDER BY 1, 2`,
    );

  it('is used with every connection encrypted: pools, counters and listener', async () => {
    const url = await services.start(settings(verified())).listening();
    await until(async () => (await connections()).some(({ name }) => name === 'animal-store key changes'));
    const init = { method: 'POST', key, headers: { 'Idempotency-Key': 'one' } };
    const created = await send(`${url}/v1/pets`, { ...init, body: { name: 'Secret', categoryId: 1 } });
    expect([created.status, created.headers.get('x-ratelimit-degraded')]).toEqual([201, null]);
    expect(await statuses(url, `/v1/pets/${created.json.id}`)).toEqual([200, 200]);
    expect(await connections()).toEqual([
      { name: 'animal-store', ssl: true },
      { name: 'animal-store counters', ssl: true },
      { name: 'animal-store key changes', ssl: true },
    ]);
  });

  it('is used with a client certificate instead of a password', async () => {
    const own = `${verified()}&sslcert=${file('client.crt')}&sslkey=${file('client.key')}`;
    await server.shell('chmod 644 client.key');
    const url = await services.start(settings(own, 'localhost', 'animal_store')).listening();
    expect(await statuses(url)).toEqual([200, 200]);
    expect(await prisma(urlWith(own, 'localhost', 'animal_store'), ['migrate', 'status'])).toMatchObject({
      code: 0,
      output: expect.stringContaining('Database schema is up to date!'),
    });
  });

  it("is verified by the system's authorities, as in the address that providers show", async () => {
    const system = 'sslmode=verify-full&sslrootcert=system&channel_binding=require&connect_timeout=10';
    const environment = { NODE_EXTRA_CA_CERTS: file('ours.crt') };
    const given = { ...settings(system), ...environment };
    expect(await prisma(urlWith(system), ['migrate', 'deploy'], { environment })).toMatchObject({ code: 0 });
    expect(await run('cli/admin.js', given, 'migrate')).toMatchObject({ code: 0, stderr: '' });
    const service = services.start({ ...given, DIRECT_DATABASE_URL: urlWith(system) });
    expect(await statuses(await service.ready())).toEqual([200, 200]);
    expect((await connections()).map(({ ssl }) => ssl)).toEqual([true, true, true]);
    expect(service.stderr).toBe('');
    // Nothing else is trusted.
    expect((await listKeys(settings(system))).stderr).toContain(WRONG_CA);
    expect((await listKeys({ ...given, DATABASE_URL: urlWith(system, '127.0.0.1') })).stderr).toContain(
      WRONG_NAME,
    );
  });

  describe.each([
    ['a certificate of another authority', () => urlWith(verified('theirs')), WRONG_CA],
    ['a certificate of another name', () => urlWith(verified(), '127.0.0.1'), WRONG_NAME],
  ])('with %s', (_what, wrongUrl, reason) => {
    const wrong = () => ({ ...settings(''), DATABASE_URL: wrongUrl() });

    it('ends a command with a one-line message', async () => {
      const { code, stderr } = await listKeys(wrong());
      expect(code).toBe(1);
      expect(stderr).toMatch(/^The database cannot be used \(check DATABASE_URL\): .+\n$/);
      expect(stderr).toContain(reason);
    });

    it('gives the service no connection: it is not ready, returns 503, and logs the reason', async () => {
      const service = services.start(wrong());
      const url = await service.listening();
      expect(await statuses(url)).toEqual([503, 503]);
      await service.waitForOutput(new RegExp(`Key changes are not received[^\n]*${reason}`));
      await service.waitForOutput(new RegExp(`Not ready[^\n]*${reason}`));
      expect(await connections()).toStrictEqual([]);
    });
  });

  it('is unavailable while it shows a wrong certificate, and available with the right one', async () => {
    const url = await services.start(settings(verified())).listening();
    expect(await statuses(url)).toEqual([200, 200]);
    await presentCertificate('theirs');
    await cutConnections('theirs');
    await eventually(async () => expect(await statuses(url)).toEqual([503, 503]));
    await presentCertificate('ours');
    await eventually(async () => expect(await statuses(url)).toEqual([200, 200]));
  });

  it.each(['DATABASE_URL', 'DIRECT_DATABASE_URL'])(
    'requires readable files in %s: otherwise the start ends with a line that names both',
    async (name) => {
      const missing = urlWith('sslmode=verify-full&sslrootcert=/nowhere/ca.crt');
      const env = { NODE_ENV: 'production', ...settings(verified()), [name]: missing };
      const { code, stderr } = await run('main.js', env);
      expect(code).toBe(1);
      expect(stderr).toMatch(new RegExp(`^${name} cannot be used: .*/nowhere/ca\\.crt`, 'm'));
      expect(stderr).not.toMatch(/^\s+at /m);
    },
  );
});
