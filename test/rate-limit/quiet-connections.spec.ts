import { parseRedisAddresses } from '../../src/process/settings/redis-address.js';
import { CounterStore } from '../../src/rate-limit/stores/counter-store.js';
import { type DatabaseProxy, startDatabaseProxy } from '../support/programs/database-proxy.js';
import { hasMovableRedis, type RedisServer, startMovableRedis } from '../support/programs/redis.js';
import { send } from '../support/http/http.js';
import { startApplication, type TestApplication } from '../support/service/application.js';

/** Opens a service whose counting connection passes a proxy, and counts as quiet after any time. */
interface Start {
  (): Promise<{ service: TestApplication; proxy: DatabaseProxy; stop: () => Promise<void> }>;
}

const onPostgres: Start = async () => {
  const service = await startApplication();
  const proxy = await startDatabaseProxy(service.database.url);
  const store: object = service.app.get(CounterStore);
  const { connection } = store as {
    connection: { pool: { options: { connectionString: string } }; quietMs: number };
  };
  jest.replaceProperty(connection.pool.options, 'connectionString', proxy.url);
  jest.replaceProperty(connection, 'quietMs', 0);
  return { service, proxy, stop: async () => {} };
};

const onRedis: Start = async () => {
  const server: RedisServer = await startMovableRedis();
  const proxy = await startDatabaseProxy(server.url);
  const COUNTER_STORE_URL = parseRedisAddresses(proxy.url) ?? [];
  const service = await startApplication({ environment: { COUNTER_STORE_URL } });
  const store: object = service.app.get(CounterStore);
  jest.replaceProperty(store as { quietMs: number }, 'quietMs', 0);
  return { service, proxy, stop: () => server.stop() };
};

const stores: [name: string, start: Start][] = [
  ['PostgreSQL', onPostgres],
  ...(hasMovableRedis() ? ([['Redis', onRedis]] as [string, Start][]) : []),
];

describe.each(stores)('a request after a quiet time, counted in %s', (_name, start) => {
  it('gets 200 and is counted once, though its connection was dropped without a word', async () => {
    const { service, proxy, stop } = await start();
    try {
      const { key } = await service.issue();
      const listPets = async () => {
        const { status, headers } = await send(`${service.url}/v1/pets`, { key });
        return [status, headers.get('x-ratelimit-remaining'), headers.get('x-ratelimit-degraded')];
      };
      expect(await listPets()).toEqual([200, '59', null]);
      // What the old connection would still count is counted, though nobody gets the reply.
      proxy.loseReplies();
      expect(await listPets()).toEqual([200, '58', null]);
      proxy.loseReplies();
      expect(await listPets()).toEqual([200, '57', null]);
      expect(await listPets()).toEqual([200, '56', null]);
    } finally {
      jest.restoreAllMocks();
      await service.close();
      proxy.close();
      await stop();
    }
  });
});
