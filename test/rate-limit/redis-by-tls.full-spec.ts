import { rm } from 'node:fs/promises';
import {
  createOperator,
  describeOnRedis,
  type RedisServer,
  startRedis,
  startRedisCluster,
} from '../support/programs/redis.js';
import { createDatabase, type TestDatabase } from '../support/database/database.js';
import { until } from '../support/eventually.js';
import { send } from '../support/http/http.js';
import { issueKey } from '../support/keys/keys.js';
import { CERTIFIED_HOST, type Certificate, createCertificate } from '../support/programs/certificate.js';
import { freePort } from '../support/programs/free-port.js';
import { startProgram } from '../support/programs/programs.js';
import { ServiceProcesses } from '../support/service/service-processes.js';

const NAME = 'animal-store';
const PASSWORD = 'p@ss';
const USER = `:${encodeURIComponent(PASSWORD)}@`;

/** A store that speaks TLS. */
interface Store {
  /** The value of `COUNTER_STORE_URL`. */
  address: string;
  masters: { server: RedisServer; tlsPort: number }[];
  stop(): Promise<void>;
}

/** Returns settings for another port, where a server speaks TLS only, and trusts others by it. */
function tls({ certificate, key }: Certificate, port: number): Record<string, string> {
  return {
    'tls-port': String(port),
    'tls-cert-file': certificate,
    'tls-key-file': key,
    'tls-ca-cert-file': certificate,
    'tls-auth-clients': 'no',
    'tls-replication': 'yes',
    requirepass: PASSWORD,
  };
}

async function startServer(certificate: Certificate): Promise<Store> {
  const tlsPort = await freePort();
  const server = await startRedis({ ...tls(certificate, tlsPort), masterauth: PASSWORD });
  const address = `rediss://${USER}${CERTIFIED_HOST}:${tlsPort}`;
  return { address, masters: [{ server, tlsPort }], stop: () => server.stop() };
}

async function startCluster(certificate: Certificate): Promise<Store> {
  const tlsPorts: number[] = [];
  const cluster = await startRedisCluster('redis-server', async () => {
    const port = await freePort();
    tlsPorts.push(port);
    // The certificate has no address.
    const names = {
      'cluster-announce-hostname': CERTIFIED_HOST,
      'cluster-preferred-endpoint-type': 'hostname',
    };
    return { ...tls(certificate, port), ...names, 'tls-cluster': 'yes' };
  });
  return {
    address: tlsPorts.map((port) => `rediss://${USER}${CERTIFIED_HOST}:${port}`).join(','),
    masters: cluster.masters.map((server, index) => ({ server, tlsPort: tlsPorts[index] as number })),
    stop: () => cluster.stop(),
  };
}

/** Starts a master, and a Sentinel that names it by its host name, since the certificate has no address. */
async function startBehindSentinel(certificate: Certificate): Promise<Store> {
  const [port, sentinelPort] = [await freePort(), await freePort()];
  const master = await startServer(certificate);
  const lines = [
    `port ${port}`,
    ...Object.entries(tls(certificate, sentinelPort)).map(([name, value]) => `${name} ${value}`),
    'sentinel resolve-hostnames yes',
    'sentinel announce-hostnames yes',
    `sentinel monitor ${NAME} ${CERTIFIED_HOST} ${master.masters[0]?.tlsPort} 1`,
    `sentinel auth-pass ${NAME} ${PASSWORD}`,
  ];
  const { operator, isReady } = createOperator(port, PASSWORD);
  const files = { 'sentinel.conf': `${lines.join('\n')}\n` };
  const sentinel = await startProgram(['redis-server', 'sentinel.conf', '--sentinel'], files, isReady);
  return {
    ...master,
    address: `rediss+sentinel://${USER}${CERTIFIED_HOST}:${sentinelPort}/${NAME}`,
    stop: async () => {
      operator.disconnect();
      await sentinel.stop();
      await master.stop();
    },
  };
}

const STORES: [store: string, start: (certificate: Certificate) => Promise<Store>, reason: string][] = [
  ['one server', startServer, 'self-signed certificate'],
  // Of these, ioredis does not report why.
  ['a Cluster', startCluster, 'Failed to refresh slots cache'],
  ['the master that a Sentinel names', startBehindSentinel, 'All sentinels are unreachable'],
];

describeOnRedis('COUNTER_STORE_URL=rediss…', () => {
  describe.each(STORES)('that leads to %s', (_store, start, reason) => {
    const services = new ServiceProcesses(() => ({
      DATABASE_URL: database.url,
      COUNTER_STORE_URL: store.address,
    }));
    let certificate: Certificate;
    let database: TestDatabase;
    let store: Store;
    let key: string;

    beforeAll(async () => {
      [certificate, database] = await Promise.all([createCertificate(), createDatabase()]);
      store = await start(certificate);
      ({ key } = await issueKey(database, { plan: 'free' }));
    });
    afterEach(() => services.end('SIGTERM'));
    afterAll(async () => {
      await Promise.all([store.stop(), database.drop()]);
      await rm(certificate.folder, { recursive: true });
    });

    /** Returns all counters, and the ports of the connections that count, of all masters. */
    async function readMasters(): Promise<{ keys: string[]; ports: Set<number> }> {
      const [keys, ports]: [string[], Set<number>] = [[], new Set()];
      for (const { server } of store.masters) {
        keys.push(...(await server.operator.keys('animal-store:*')));
        const clients = String(await server.operator.call('CLIENT', 'LIST'));
        for (const [, port] of clients.matchAll(/ laddr=\S+:(\d+) .*name=animal-store-counters/g)) {
          ports.add(Number(port));
        }
      }
      return { keys, ports };
    }

    it('counts there, and speaks TLS with all servers', async () => {
      const url = await services.start({ NODE_EXTRA_CA_CERTS: certificate.certificate }).ready();
      await until(async () => !(await send(`${url}/v1/pets`, { key })).headers.has('x-ratelimit-degraded'));
      const { keys, ports } = await readMasters();
      expect(keys).not.toStrictEqual([]);
      expect(ports).toEqual(new Set(store.masters.map(({ tlsPort }) => tlsPort)));
    });

    it('connects to no server whose certificate has an unknown authority, and counts locally', async () => {
      await Promise.all(store.masters.map(({ server }) => server.operator.flushall()));
      const service = services.start({ NODE_EXTRA_CA_CERTS: '' });
      const url = await service.listening();
      await until(async () => (await send(`${url}/v1/pets`, { key })).headers.has('x-ratelimit-degraded'));
      expect(await readMasters()).toEqual({ keys: [], ports: new Set() });
      expect(service.stdout).toContain(reason);
    });
  });
});
