import { createDatabase, type TestDatabase } from './support/database.js';
import { eventually } from './support/eventually.js';
import { expectError } from './support/expectations.js';
import { hold } from './support/holding.js';
import { type Answer, send } from './support/http.js';
import { issueKey } from './support/keys.js';
import { ServiceProcess } from './support/service-process.js';

/** Whoever keeps an answer waits with the end of its transaction until nobody holds this lock. */
const WAIT_AT_COMMIT = `
  CREATE FUNCTION wait_at_commit() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM pg_advisory_xact_lock_shared(7);
    RETURN NULL;
  END $$;
  CREATE CONSTRAINT TRIGGER wait_at_commit AFTER INSERT ON idempotent_answers
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION wait_at_commit();`;

let database: TestDatabase;
let key: string;
let replicas: ServiceProcess[];

beforeAll(async () => {
  database = await createDatabase();
  await database.query(WAIT_AT_COMMIT);
  ({ key } = await issueKey(database, { plan: 'enterprise', perMinute: 100_000, perDay: 100_000 }));
  const environment = { DATABASE_URL: database.url, APP_ENV: 'staging', HOST: '127.0.0.1' };
  replicas = [new ServiceProcess('main.js', environment), new ServiceProcess('main.js', environment)];
}, 60_000);

afterAll(async () => {
  await Promise.all(replicas.map((replica) => replica.kill('SIGKILL')));
  await database.drop();
});

it('a request whose replica is killed between its write and its answer makes one animal, and its repetition is given the answer', async () => {
  const [first, second] = await Promise.all(replicas.map((replica) => replica.listening()));
  const attempt = (url: string | undefined): Promise<Answer> =>
    send(`${url}/v1/pets`, {
      method: 'POST',
      key,
      body: { name: 'Rex', categoryId: 7 },
      headers: { 'Idempotency-Key': 'a' },
    });
  const holder = await hold(database.url, 'SELECT pg_advisory_xact_lock(7)');
  const lost = attempt(first).catch((error: unknown) => error);
  await eventually(async () => {
    const written = await database.query(
      `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND query ~ '^COMMIT' AND wait_event = 'advisory'`,
    );
    expect(written).toHaveLength(1);
  });
  await replicas[0]?.kill('SIGKILL');
  expect(String(await lost)).toBe('TypeError: fetch failed');

  const early = await attempt(second);
  expectError(early, 409, 'idempotency_conflict');
  expect(early.headers.get('retry-after')).toBe('1');

  await holder.letGo();
  await eventually(async () => {
    const answer = await attempt(second);
    expect([answer.status, answer.headers.get('idempotent-replayed')]).toEqual([201, 'true']);
    expect(answer.text).toBe('{"id":1,"name":"Rex","categoryId":7}');
  });
  expect(await database.query('SELECT name FROM pets')).toEqual([{ name: 'Rex' }]);
}, 60_000);
