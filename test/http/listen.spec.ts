import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { createServer as createHttpServer } from 'node:http';
import { networkInterfaces } from 'node:os';
import { listenOn } from '../../src/http/connections/listen.js';
import { standardOutput } from '../../src/process/standard-stream.js';
import { hold } from '../support/database/holding.js';
import { expectLocksWaitedFor } from '../support/database/locks.js';
import { eventually } from '../support/eventually.js';
import { send } from '../support/http/http.js';
import { sendRaw } from '../support/http/raw-http.js';
import { type TestApplication, useApplication } from '../support/service/application.js';

const interfaces = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
/** Whether this machine has IPv6: some containers have none, and there the service listens on IPv4 alone. */
const HAS_IPV6 = interfaces.some(({ address }) => address === '::1');
const LOOPBACK = ['127.0.0.1', ...(HAS_IPV6 ? ['[::1]'] : [])];

const portOf = ({ url }: TestApplication) => new URL(url).port;
const at = (host: string, service: TestApplication) => `http://${host}:${portOf(service)}`;

describe('a service that listens on ::', () => {
  const write = jest.spyOn(standardOutput, 'write').mockReturnValue();
  afterAll(() => write.mockRestore());
  const service = useApplication({
    host: '::',
    environment: { TRUST_PROXY: ['127.0.0.0/8'], LOG_LEVEL: 'info', ANONYMOUS_LIMIT: 5 },
  });

  it('is reached at the loopback address of each family', async () => {
    for (const host of LOOPBACK) {
      expect([host, (await send(`${at(host, service)}/livez`)).status]).toEqual([host, 200]);
    }
  });

  it('limits an anonymous client by its IPv4 address, and logs that address', async () => {
    write.mockClear();
    const url = at('127.0.0.1', service);
    const { headers } = await send(`${url}/v1/pets`);
    expect(headers.get('x-ratelimit-remaining')).toBe('4');
    await sendRaw(url, 'no request\r\n\r\n');
    const lines = () =>
      write.mock.calls.map(([line]) => line).filter((line) => line.includes('clientAddress'));
    await eventually(async () => expect(lines()).toHaveLength(2));
    for (const line of lines()) {
      expect(JSON.parse(line)).toMatchObject({ clientAddress: '127.0.0.1' });
    }
    const buckets = await service.database.query('SELECT bucket_key FROM rate_limit_counters');
    expect(buckets).toEqual([{ bucket_key: 'address:127.0.0.1' }]);
  });

  it('accepts a key that is restricted to an IPv4 network from it, and from no other', async () => {
    const { key } = await service.issue({ allowedNetworks: ['127.0.0.1/32'] });
    expect((await send(`${at('127.0.0.1', service)}/v1/pets`, { key })).status).toBe(200);
    const other = await service.issue({ allowedNetworks: ['192.0.2.0/24'] });
    const denied = await send(`${at('127.0.0.1', service)}/v1/pets`, other);
    expect(denied.status).toBe(403);
    expect(denied.json.message).toContain('from the address 127.0.0.1.');
  });

  it.each(['192.0.2.7', '::ffff:192.0.2.7'])(
    'trusts a proxy in an IPv4 network of TRUST_PROXY, which sends the client address %s',
    async (address) => {
      const { key } = await service.issue({ allowedNetworks: ['192.0.2.7/32'] });
      const headers = { 'X-Forwarded-For': address };
      expect((await send(`${at('127.0.0.1', service)}/v1/pets`, { key, headers })).status).toBe(200);
      const denied = await service.issue({ allowedNetworks: ['127.0.0.1/32'] });
      const { json } = await send(`${at('127.0.0.1', service)}/v1/pets`, { ...denied, headers });
      expect(json.message).toContain('from the address 192.0.2.7.');
    },
  );
});

describe('a service that listens on localhost', () => {
  const service = useApplication({ host: 'localhost' });

  it('is reached at each loopback address, and serves the requests of both when it closes', async () => {
    const { key } = await service.issue();
    const lock = await hold(service.database.url, 'LOCK TABLE pets');
    const responses = LOOPBACK.map((host) => send(`${at(host, service)}/v1/pets`, { key }));
    await eventually(() => expectLocksWaitedFor(service.database, 1));
    let isClosed = false;
    const closed = service.app.close().then(() => (isClosed = true));
    await eventually(() =>
      expect(fetch(`${at(LOOPBACK.at(-1) ?? '', service)}/livez`)).rejects.toThrow('fetch failed'),
    );
    expect(isClosed).toBe(false);
    await lock.letGo();
    expect((await Promise.all(responses)).map(({ status }) => status)).toEqual(LOOPBACK.map(() => 200));
    await closed;
  });
});

it('listenOn rejects if another program has the port on one of the addresses of localhost', async () => {
  const other = createServer().listen(0, HAS_IPV6 ? '::1' : '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  const server = createHttpServer();
  const listen = async (host: string) => {
    server.listen(port, host);
    await once(server, 'listening');
  };
  const place = { host: 'localhost', port, setting: 'PORT' } as const;
  const message = `Port ${port} is in use: stop that program, or set PORT`;
  await expect(listenOn(server, place, listen)).rejects.toThrow(message);
  server.close();
  other.close();
});
