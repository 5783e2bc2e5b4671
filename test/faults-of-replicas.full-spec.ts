import { createDatabase, type TestDatabase } from './support/database.js';
import { freePort } from './support/free-port.js';
import { until } from './support/eventually.js';
import {
  expectAnswersInFormAndInTime,
  expectNothingLost,
  expectTruthfulHealth,
} from './support/fault-promises.js';
import { publishFaults } from './support/fault-table.js';
import { type Course, suffer } from './support/faults.js';
import { send } from './support/http.js';
import { issueKey } from './support/keys.js';
import { ServiceProcess } from './support/service-process.js';

const WIDE = { plan: 'enterprise', perMinute: 10_000_000, perDay: 100_000_000 } as const;
const RECOVERY_MS = 2000;

describe('two replicas under load, of which one is killed (kill -9),', () => {
  let database: TestDatabase;
  let running: ServiceProcess[] = [];
  let killed: Course;
  let other: Course;

  beforeAll(async () => {
    database = await createDatabase();
    const { key } = await issueKey(database, WIDE);
    const [port, otherPort] = await Promise.all([freePort(), freePort()]);
    running = await Promise.all([startOn(port), startOn(otherPort)]);
    const [first, second] = running as [ServiceProcess, ServiceProcess];
    [killed, other] = await Promise.all([
      suffer(await first.listening(), key, {
        name: 'A replica is killed, and started again after 1 s: its own clients',
        happen: () => first.kill('SIGKILL'),
        lastsMs: 1000,
        end: async () => {
          running[0] = await startOn(port);
        },
      }),
      suffer(await second.listening(), key, {
        name: 'The same: the clients of the other replica',
        lastsMs: 3000,
        end: async () => {},
      }),
    ]);
  });
  afterAll(async () => {
    await Promise.all(running.map((replica) => replica.kill('SIGTERM')));
    await database.drop();
    await publishFaults('replicas', [killed, other], 'the embedded PostgreSQL');
  });

  async function startOn(port: number): Promise<ServiceProcess> {
    const replica = new ServiceProcess('main.js', {
      NODE_ENV: 'production',
      APP_ENV: 'staging',
      HOST: '127.0.0.1',
      PORT: String(port),
      SHUTDOWN_DELAY: '0',
      LOG_LEVEL: 'warn',
      DATABASE_URL: database.url,
    });
    const url = await replica.listening();
    await until(async () => (await send(`${url}/readyz`)).status === 200);
    return replica;
  }

  it('keep every animal that either of them acknowledged, and none twice that was asked for once', async () => {
    await expectNothingLost(database, killed);
    await expectNothingLost(database, other);
  });

  it('serve on at the other, where no request fails', () => {
    expectAnswersInFormAndInTime(other);
    expectTruthfulHealth(other, 'ready');
    expect(other.refusals).toEqual([]);
  });

  it('serve again at the first as soon as it is started: until then its clients have no answer', () => {
    expect(killed.failedBefore).toBe(0);
    expect(killed.unanswered).toBeGreaterThan(0);
    expect(killed.refusals).toEqual([]);
    expect(killed.servedAgainMs).toBeLessThan(RECOVERY_MS);
  });
});
