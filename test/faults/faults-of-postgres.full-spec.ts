import { denialsBeforeBan, requestsBeforeBan } from '../support/keys/bans.js';
import { untilMinuteLasts } from '../support/time/clock.js';
import { DebianPostgres, describeOnDebianPostgres } from '../support/programs/debian-postgres.js';
import { eventually } from '../support/eventually.js';
import { expectPromisesKept, type Readiness } from './fault-promises.js';
import { type Course, type Fault, suffer } from './faults.js';
import { hold } from '../support/database/holding.js';
import { send } from '../support/http/http.js';
import { issueKey } from '../support/keys/keys.js';
import { OPERATED_ROLE, OperatedService } from './operated-service.js';
import { query } from '../support/database/database.js';

/** More than it takes to ban a key. */
const BURST_MS = 5_000;

describeOnDebianPostgres('a service under load', () => {
  let server: DebianPostgres;
  let service: OperatedService;
  let url: string;

  beforeAll(async () => {
    server = await DebianPostgres.create('fsync = on');
    await server.start();
    service = await OperatedService.on(server);
    url = await service.startReady();
  });
  afterAll(async () => {
    await service.stop();
  });

  /** Runs a fault, and checks what holds for every fault. */
  async function runFault(fault: Fault, readiness: Readiness): Promise<Course> {
    const course = await suffer(url, service.key, fault);
    await expectPromisesKept(service, course, readiness);
    return course;
  }

  it('counts exactly and bans on a PostgreSQL older than the embedded one', async () => {
    const limits = { perMinute: 20, perDay: 1000 };
    const { key } = await issueKey({ url: service.databaseUrl }, { plan: 'enterprise', ...limits });
    await untilMinuteLasts(BURST_MS);
    const responses = await Promise.all(
      Array.from({ length: requestsBeforeBan(20) + 20 }, () => send(`${url}/v1/pets?limit=1`, { key })),
    );
    const countResponses = (code?: string) => responses.filter(({ json }) => json.code === code).length;
    const codes = [undefined, 'rate_limit_exceeded', 'api_key_banned'];
    expect(codes.map(countResponses)).toEqual([20, denialsBeforeBan(20) - 1, 21]);
  });

  const restart = () => server.start();
  it.each<[string, happen: () => Promise<unknown>, lastsMs: number, end: () => Promise<unknown>]>([
    ['PostgreSQL is stopped and restarted', () => server.stop(), 1000, restart],
    ['all processes of PostgreSQL are killed (kill -9)', () => server.kill(), 1000, restart],
    ['PostgreSQL hangs (SIGSTOP) and continues', () => server.freeze(), 3000, async () => server.goOn()],
  ])('recovers when %s', async (_what, happen, lastsMs, end) => {
    const course = await runFault({ happen, lastsMs, end }, 'not ready');
    expect(course.failedResponses).not.toStrictEqual([]);
  });

  it('recovers when the kernel kills one process of PostgreSQL, as when memory is short', async () => {
    const processes = (where: string) =>
      service.query<{ pid: number }>(`SELECT pid FROM pg_stat_activity WHERE ${where} LIMIT 1`);
    const [checkpointer] = await processes("backend_type = 'checkpointer'");
    const killOne = async () => {
      const [backend] = await processes("application_name = 'animal-store'");
      process.kill((backend as { pid: number }).pid, 'SIGKILL');
    };
    // Until PostgreSQL notices it, it still serves. Then it restarts all of its processes, this one too.
    const end = () =>
      eventually(async () =>
        expect(await processes("backend_type = 'checkpointer'")).not.toEqual([checkpointer]),
      );
    await runFault({ happen: killOne, lastsMs: 0, end }, 'either');
  });

  it('fails no request when PostgreSQL hangs (SIGSTOP) for less than the deadline of a count', async () => {
    const course = await runFault(
      { happen: () => server.freeze(), lastsMs: 400, end: async () => server.goOn() },
      'either',
    );
    expect(course.failedResponses).toStrictEqual([]);
  });

  /**
   * Lets the service have at most so many connections (-1: any number), as when other clients have the rest.
   */
  const allowConnections = (count: number) =>
    query(server.url(), `ALTER ROLE ${OPERATED_ROLE} CONNECTION LIMIT ${count}`);

  it('continues with its connections when no others are left', async () => {
    const course = await runFault(
      { happen: () => allowConnections(0), lastsMs: 1000, end: () => allowConnections(-1) },
      'ready',
    );
    expect(course.failedResponses).toStrictEqual([]);
  });

  it('recovers when other clients take all connections', async () => {
    const course = await runFault(
      {
        happen: async () => {
          await allowConnections(0);
          await query(
            server.url(),
            'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE ' +
              `'animal-store%'`,
          );
        },
        lastsMs: 1500,
        end: () => allowConnections(-1),
      },
      'not ready',
    );
    expect(course.failedResponses).not.toStrictEqual([]);
  });

  const locked = (table: string): Fault => {
    let lock: Awaited<ReturnType<typeof hold>>;
    const happen = async () => {
      lock = await hold(server.url('animal_store'), `LOCK TABLE ${table}`);
    };
    return { happen, lastsMs: 3000, end: () => lock.letGo() };
  };

  it('serves everything else while the animals are locked', async () => {
    const course = await runFault(locked('pets'), 'ready');
    expect(course.findFailures('orders')).toStrictEqual([]);
  });

  it('returns 503 only until it finds the locked counters unavailable, and then counts locally', async () => {
    const course = await runFault(locked('rate_limit_counters'), 'ready');
    expect(course.countedLocally).toBeGreaterThan(course.failedResponses.length);
  });
});
