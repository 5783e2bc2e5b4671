import { createDatabase, type TestDatabase } from '../support/database/database.js';
import getPort from 'get-port';
import { expectResponsesInFormAndInTime, expectNothingLost, expectTruthfulHealth } from './fault-promises.js';
import { type Course, suffer } from './faults.js';
import { issueKey, UNLIMITED } from '../support/keys/keys.js';
import { ServiceProcesses } from '../support/service/service-processes.js';

const RECOVERY_MS = 2000;

describe('two replicas under load, of which one is killed (kill -9)', () => {
  let database: TestDatabase;
  const replicas = new ServiceProcesses(() => ({
    DATABASE_URL: database.url,
    SHUTDOWN_DELAY: '0',
    LOG_LEVEL: 'warn',
  }));
  let killed: Course;
  let other: Course;

  beforeAll(async () => {
    database = await createDatabase();
    const { key } = await issueKey(database, UNLIMITED);
    const [port, otherPort] = await Promise.all([
      getPort({ host: '127.0.0.1' }),
      getPort({ host: '127.0.0.1' }),
    ]);
    const [first, second] = [startOn(port), startOn(otherPort)];
    await Promise.all([first.ready(), second.ready()]);
    [killed, other] = await Promise.all([
      suffer(await first.listening(), key, {
        happen: () => first.kill('SIGKILL'),
        lastsMs: 1000,
        end: () => startOn(port).ready(),
      }),
      suffer(await second.listening(), key, { lastsMs: 3000, end: async () => {} }),
    ]);
  });
  afterAll(async () => {
    await replicas.end('SIGTERM');
    await database.drop();
  });

  const startOn = (port: number) => replicas.start({ PORT: String(port) });

  it('keep every acknowledged animal, and create none twice for one Idempotency-Key', async () => {
    await expectNothingLost(database, killed);
    await expectNothingLost(database, other);
  });

  it('fail no request at the other replica', () => {
    expectResponsesInFormAndInTime(other);
    expectTruthfulHealth(other, 'ready');
    expect(other.failedResponses).toStrictEqual([]);
  });

  it('serve again at the killed replica once it restarts; until then its clients get no response', () => {
    expect(killed.failedBefore).toBe(0);
    expect(killed.withoutResponse).toBeGreaterThan(0);
    expect(killed.failedResponses).toStrictEqual([]);
    expect(killed.servedAgainMs).toBeLessThan(RECOVERY_MS);
  });
});
