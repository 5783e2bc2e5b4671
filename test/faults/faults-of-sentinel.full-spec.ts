import { describeOnRedis } from '../support/programs/redis.js';
import { SentinelGroup } from '../support/programs/sentinel-group.js';
import { createDatabase, type TestDatabase } from '../support/database/database.js';
import { until } from '../support/eventually.js';
import { expectPromisesKept } from './fault-promises.js';
import { suffer } from './faults.js';
import { send } from '../support/http/http.js';
import { issueKey, UNLIMITED } from '../support/keys/keys.js';
import { LimitedClient } from './limited-client.js';
import { run } from '../support/service/service-process.js';
import { ServiceProcesses } from '../support/service/service-processes.js';

const LIMIT = 20;
const PASSWORD = 'p@ss';
/**
 * The new master accepts writes before its Sentinels and its replicas agree on it, and until then it may
 * reject some.
 */
const COUNTED_AGAIN_MS = 4000;
/**
 * A request waits for the query in flight and for its own, 750 ms each; the rest is a margin for a busy
 * machine.
 */
const LONGEST_RESPONSE_MS = 2500;

describeOnRedis('a service that counts in a Redis with Sentinels', () => {
  const services = new ServiceProcesses(() => ({
    LOG_LEVEL: 'warn',
    BAN_DURATIONS: '',
    DATABASE_URL: database.url,
  }));
  let database: TestDatabase;
  let group: SentinelGroup;
  let url: string;
  let key: string;

  beforeAll(async () => {
    [database, group] = await Promise.all([createDatabase(), SentinelGroup.start(PASSWORD)]);
    url = await services.start({ COUNTER_STORE_URL: group.url }).ready();
    ({ key } = await issueKey(database, UNLIMITED));
  });
  beforeEach(async () => {
    await group.settle();
    await until(isCounted);
  });
  afterAll(async () => {
    await services.end('SIGTERM');
    await group.stop();
    await database.drop();
  });

  async function isCounted(): Promise<boolean> {
    const { status, headers } = await send(`${url}/v1/pets`, { key });
    return status === 200 && !headers.has('x-ratelimit-degraded');
  }

  type Step = (masterPort: number) => Promise<unknown>;
  const faults: [what: string, happen: Step, undo: Step][] = [
    ['is killed', (port) => group.kill(port), (port) => group.restart(port)],
    [
      'hangs (SIGSTOP)',
      async (port) => group.at(port).server.pause(),
      async (port) => group.at(port).server.goOn(),
    ],
    ['is cut off', async (port) => group.at(port).address.hang(), (port) => group.connectAgain(port)],
    ['is replaced on purpose', () => group.failOver(), async () => {}],
  ];
  it.each(faults)(
    'counts in the new master, keeps its declared limits, and runs on when the master %s',
    async (_what, happen, undo) => {
      const port = await group.masterPort();
      const { key: limitedKey } = await issueKey(database, { ...UNLIMITED, perMinute: LIMIT });
      const limited = new LimitedClient(url, limitedKey);
      const course = await suffer(url, key, {
        happen: () => happen(port),
        lastsMs: 0,
        end: () => until(async () => (await group.masterPort()) !== port && (await group.acceptsWrites())),
      });
      const allowed = await limited.stop();
      process.stdout.write(`Allowed at most ${allowed} of ${LIMIT} in a minute\n`);
      await undo(port);
      await expectPromisesKept(database, course, 'ready', COUNTED_AGAIN_MS);
      expect(course.longestMs).toBeLessThan(LONGEST_RESPONSE_MS);
      // One replica counts locally, which may exceed a window by one limit.
      expect(allowed).toBeLessThanOrEqual(2 * LIMIT);
    },
  );

  it('refuses to start, with one line, when no Sentinel knows the master', async () => {
    const COUNTER_STORE_URL = group.url.replace(/[^/]+$/, 'other');
    const settings = { DATABASE_URL: database.url, APP_ENV: 'staging', HOST: '127.0.0.1', COUNTER_STORE_URL };
    expect(await run('main.js', { ...settings, LOG_LEVEL: 'silent' })).toEqual({
      code: 1,
      signal: null,
      stdout: '',
      stderr: 'The settings are wrong:\nCOUNTER_STORE_URL: no Sentinel knows a master "other"\n',
    });
  });

  it.each([
    ['the password is wrong', () => group.url.replace(/:[^:@]+@/, ':wrong@'), /WRONGPASS/],
    ['the password is missing', () => group.url.replace(/:[^:@]+@/, ''), /NOAUTH/],
    [
      'no Sentinel is there',
      () => 'redis+sentinel://127.0.0.1:1,127.0.0.1:2/animal-store',
      /All sentinels are unreachable/,
    ],
  ])('starts, counts locally, and logs the reason when %s', async (_what, COUNTER_STORE_URL, reason) => {
    const service = services.start({ COUNTER_STORE_URL: COUNTER_STORE_URL() });
    const other = await service.ready();
    expect(service.stdout).toMatch(
      new RegExp(`Redis is unavailable, and is tried again: .*${reason.source}`),
    );
    await until(async () => {
      const { status, headers } = await send(`${other}/v1/pets`, { key });
      return status === 200 && headers.get('x-ratelimit-degraded') === 'true';
    });
    expect(await service.kill('SIGTERM')).toMatchObject({ code: 0 });
  });
});
