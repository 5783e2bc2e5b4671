import { createDatabase, type TestDatabase } from '../support/database/database.js';
import { eventually } from '../support/eventually.js';
import { expectError } from '../support/http/expectations.js';
import { hold } from '../support/database/holding.js';
import { type HttpResponse, send } from '../support/http/http.js';
import { issueKey, UNLIMITED } from '../support/keys/keys.js';
import { ServiceProcess } from '../support/service/service-process.js';

/** Locks on which a creation waits: before its response is stored, and at the commit of its transaction. */
const BEFORE_STORING = 6;
const AT_COMMIT = 7;
const WAITING = `
  CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM set_config('lock_timeout', '0', true);
    PERFORM pg_advisory_xact_lock_shared(TG_ARGV[0]::bigint);
    RETURN NEW;
  END $$;
  CREATE TRIGGER wait_before_storing BEFORE INSERT ON stored_responses
    FOR EACH ROW EXECUTE FUNCTION wait(${BEFORE_STORING});
  CREATE CONSTRAINT TRIGGER wait_at_commit AFTER INSERT ON stored_responses
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION wait(${AT_COMMIT});`;

let database: TestDatabase;
let key: string;
let survivor: ServiceProcess;
let victim: ServiceProcess;

const startReplica = () =>
  new ServiceProcess('main.js', { DATABASE_URL: database.url, APP_ENV: 'staging', HOST: '127.0.0.1' });

beforeAll(async () => {
  database = await createDatabase();
  await database.query(WAITING);
  ({ key } = await issueKey(database, UNLIMITED));
  survivor = startReplica();
}, 60_000);
afterAll(async () => {
  await survivor.kill('SIGKILL');
  await database.drop();
});
beforeEach(async () => {
  await database.query('TRUNCATE pets, stored_responses RESTART IDENTITY CASCADE');
  victim = startReplica();
});
afterEach(() => victim.kill('SIGKILL'));

const WAITS = `
  SELECT pg_locks.pid FROM pg_locks JOIN pg_database ON pg_database.oid = database
   WHERE datname = current_database() AND locktype = 'advisory' AND objid = $1 AND NOT granted`;

/**
 * Sends a request to the victim, which is killed while PostgreSQL waits for this lock. Until the lock is
 * released, the same request to the survivor gets 409.
 *
 * @param meanwhile runs before the lock is released.
 * @returns the response of the survivor to the same request afterwards.
 */
async function repeatAfterKill(lock: number, meanwhile?: () => Promise<unknown>): Promise<HttpResponse> {
  const [first, second] = await Promise.all([victim.listening(), survivor.listening()]);
  const attempt = (url: string): Promise<HttpResponse> =>
    send(`${url}/v1/pets`, {
      method: 'POST',
      key,
      body: { name: 'Rex', categoryId: 7 },
      headers: { 'Idempotency-Key': 'a' },
    });
  const holder = await hold(database.url, `SELECT pg_advisory_xact_lock(${lock})`);
  const interrupted = attempt(first).catch((error: unknown) => error);
  await eventually(async () => expect(await database.query(WAITS, [lock])).toHaveLength(1));
  await victim.kill('SIGKILL');
  expect(String(await interrupted)).toBe('TypeError: fetch failed');

  const early = await attempt(second);
  expectError(early, 409, 'idempotency_conflict');
  expect(early.headers.get('retry-after')).toBe('1');

  await meanwhile?.();
  await holder.letGo();
  let response = early;
  await eventually(async () => {
    response = await attempt(second);
    expect(response.status).not.toBe(409);
  });
  return response;
}

const animals = () => database.query('SELECT id::int, name FROM pets');

describe('a creation with an Idempotency-Key whose replica is killed', () => {
  it('creates nothing when its transaction is rolled back, and one animal when it is repeated', async () => {
    const response = await repeatAfterKill(BEFORE_STORING, () =>
      database.query(`SELECT pg_terminate_backend(pid) FROM (${WAITS}) AS waiting`, [BEFORE_STORING]),
    );
    expect([response.status, response.headers.get('idempotent-replayed')]).toEqual([201, null]);
    // The ids of attempts that created nothing are not reused.
    const { id } = response.json;
    expect(id).toBeGreaterThan(1);
    expect(response.text).toBe(`{"id":${id},"name":"Rex","categoryId":7}`);
    expect(await animals()).toEqual([{ id, name: 'Rex' }]);
  }, 60_000);

  it.each([
    ['killed before its response is stored', BEFORE_STORING],
    ['killed at its commit', AT_COMMIT],
  ])(
    'creates one animal and returns its response when repeated: %s',
    async (_when, lock) => {
      const response = await repeatAfterKill(lock);
      expect([response.status, response.headers.get('idempotent-replayed')]).toEqual([201, 'true']);
      expect(response.text).toBe('{"id":1,"name":"Rex","categoryId":7}');
      expect(await animals()).toEqual([{ id: 1, name: 'Rex' }]);
    },
    60_000,
  );
});
