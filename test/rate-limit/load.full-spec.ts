import { Agent, get, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import { type ServiceHome, sharedStores } from '../support/counters/counter-stores.js';
import { issueKey } from '../support/keys/keys.js';
import { ServiceProcess } from '../support/service/service-process.js';

const REPLICAS = 2;
const CONNECTIONS_EACH = 700;
const ROUNDS = 5;
const LIMIT = 50;

describe.each(sharedStores)('two replicas over one %s', (_name, start) => {
  let home: ServiceHome;
  let replicas: ServiceProcess[];
  let urls: string[];

  beforeAll(async () => {
    home = await start();
    replicas = Array.from(
      { length: REPLICAS },
      () => new ServiceProcess('main.js', { ...home.settings, LOG_LEVEL: 'warn', BAN_DURATIONS: '' }),
    );
    urls = await Promise.all(replicas.map((replica) => replica.ready()));
  });
  afterAll(async () => {
    await Promise.all(replicas.map((replica) => replica.kill('SIGTERM')));
    await home.stop();
  });

  it(`never exceed a limit by load alone: ${CONNECTIONS_EACH} connections on each send a request at once`, async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      // The day bounds the round if a minute ends during it.
      const { key } = await issueKey(home.database, { plan: 'enterprise', perMinute: LIMIT, perDay: LIMIT });
      const responses = await Promise.all(urls.flatMap((url) => sendAtOnce(url, key)));
      const statuses = responses.map(({ statusCode }) => statusCode);
      expect(statuses.filter((status) => status === 200)).toHaveLength(LIMIT);
      // Requests that are shed get 503, and report what is last known.
      const degraded = responses.filter(({ headers }) => 'x-ratelimit-degraded' in headers);
      expect(new Set(degraded.map(({ statusCode }) => statusCode))).not.toContain(200);
    }
    expect(replicas.map(({ stdout }) => stdout).join('')).not.toMatch(/store is away/);
  });

  function sendAtOnce(url: string, key: string): Promise<IncomingMessage>[] {
    const agent = new Agent({ maxSockets: CONNECTIONS_EACH });
    return Array.from({ length: CONNECTIONS_EACH }, async () => {
      const request = get(`${url}/v1/pets?limit=100`, { agent, headers: { Authorization: `Bearer ${key}` } });
      const [response] = (await once(request, 'response')) as [IncomingMessage];
      response.resume();
      await once(response, 'end');
      return response;
    });
  }
});
