import { rm } from 'node:fs/promises';
import { createOperator, describeOnRedis, type RedisServer, startRedis } from '../support/counters/redis.js';
import { createDatabase, type TestDatabase } from '../support/database/database.js';
import { until } from '../support/eventually.js';
import { send } from '../support/http/http.js';
import { issueKey } from '../support/keys/keys.js';
import { type Certificate, createCertificate } from '../support/programs/certificate.js';
import { freePort } from '../support/programs/free-port.js';
import { type Program, startProgram } from '../support/programs/programs.js';
import { ServiceProcesses } from '../support/service/service-processes.js';

/** What the certificate is issued for. */
const HOST = 'localhost';
const NAME = 'animal-store';
const PASSWORD = 'p@ss';

describeOnRedis('COUNTER_STORE=rediss+sentinel://', () => {
  const services = new ServiceProcesses(() => ({
    DATABASE_URL: database.url,
    COUNTER_STORE: `rediss+sentinel://:${encodeURIComponent(PASSWORD)}@${HOST}:${sentinel.tlsPort}/${NAME}`,
  }));
  let certificate: Certificate;
  let database: TestDatabase;
  let master: RedisServer;
  let masterTlsPort: number;
  let sentinel: { tlsPort: number; program: Program; disconnect(): void };
  let key: string;

  beforeAll(async () => {
    [certificate, database] = await Promise.all([createCertificate(HOST), createDatabase()]);
    masterTlsPort = await freePort();
    master = await startRedis({ ...tls(masterTlsPort), requirepass: PASSWORD, masterauth: PASSWORD });
    sentinel = await startSentinel();
    ({ key } = await issueKey(database, { plan: 'free' }));
  });
  afterEach(() => services.end('SIGTERM'));
  afterAll(async () => {
    sentinel.disconnect();
    await Promise.all([sentinel.program.stop(), master.stop(), database.drop()]);
    await rm(certificate.folder, { recursive: true });
  });

  /** Settings for another port, where a server speaks TLS only, and trusts others by it. */
  function tls(port: number): Record<string, string> {
    return {
      'tls-port': String(port),
      'tls-cert-file': certificate.certificate,
      'tls-key-file': certificate.key,
      'tls-ca-cert-file': certificate.certificate,
      'tls-auth-clients': 'no',
      'tls-replication': 'yes',
    };
  }

  /** Starts a Sentinel that names the master by its host name, since the certificate has no address. */
  async function startSentinel() {
    const [port, tlsPort] = [await freePort(), await freePort()];
    const lines = [
      `port ${port}`,
      ...Object.entries(tls(tlsPort)).map(([name, value]) => `${name} ${value}`),
      'sentinel resolve-hostnames yes',
      'sentinel announce-hostnames yes',
      `sentinel monitor ${NAME} ${HOST} ${masterTlsPort} 1`,
      `sentinel auth-pass ${NAME} ${PASSWORD}`,
      `requirepass ${PASSWORD}`,
    ];
    const { operator, isReady } = createOperator(port, PASSWORD);
    const files = { 'sentinel.conf': `${lines.join('\n')}\n` };
    const program = await startProgram(['redis-server', 'sentinel.conf', '--sentinel'], files, isReady);
    return { tlsPort, program, disconnect: () => operator.disconnect() };
  }

  /** Returns the local ports of the connections that count in the master. */
  async function countingPorts(): Promise<Set<number>> {
    const clients = String(await master.operator.call('CLIENT', 'LIST'));
    const found = clients.matchAll(/ laddr=\S+:(\d+) .*name=animal-store-counters/g);
    return new Set([...found].map(([, port]) => Number(port)));
  }

  it('counts in the master that a Sentinel names, and speaks TLS with both', async () => {
    const url = await services.start({ NODE_EXTRA_CA_CERTS: certificate.certificate }).ready();
    await until(async () => !(await send(`${url}/v1/pets`, { key })).headers.has('x-ratelimit-degraded'));
    expect(await master.operator.keys('animal-store:*')).not.toStrictEqual([]);
    expect(await countingPorts()).toEqual(new Set([masterTlsPort]));
  });

  it('connects to no server whose certificate has an unknown authority, and counts locally', async () => {
    await master.operator.flushall();
    const service = services.start({ NODE_EXTRA_CA_CERTS: '' });
    const url = await service.listening();
    await until(async () => (await send(`${url}/v1/pets`, { key })).headers.has('x-ratelimit-degraded'));
    expect(await master.operator.keys('animal-store:*')).toStrictEqual([]);
    expect(await countingPorts()).toEqual(new Set());
    expect(service.stdout).toContain('All sentinels are unreachable');
  });
});
