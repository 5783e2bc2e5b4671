import { Crowd } from './support/crowd.js';
import { DebianPostgres, describeOnDebianPostgres } from './support/debian-postgres.js';
import { eventually } from './support/eventually.js';
import { expectPromisesKept, type Readiness } from './support/fault-promises.js';
import { publishFaults } from './support/fault-table.js';
import { type Course, type Fault, suffer } from './support/faults.js';
import { hold } from './support/holding.js';
import { OperatedService } from './support/operated-service.js';
import { query } from './support/scratch-database.js';

const MAX_CONNECTIONS = 40;
/** Of these, those that PostgreSQL keeps for superusers. */
const RESERVED = 3;

describeOnDebianPostgres('a service under load whose PostgreSQL', () => {
  const courses: Course[] = [];
  let server: DebianPostgres;
  let service: OperatedService;
  let url: string;

  beforeAll(async () => {
    server = await DebianPostgres.create('fsync = on', `max_connections = ${MAX_CONNECTIONS}`);
    await server.start();
    service = await OperatedService.on(server);
    url = await service.startReady();
  });
  afterAll(async () => {
    const version = await server.shell('postgres --version');
    await service.stop();
    await publishFaults('postgres', courses, version.trim());
  });

  /** What holds of every fault. */
  async function sufferInForm(fault: Fault, readiness: Readiness, at = url): Promise<Course> {
    const course = await suffer(at, service.key, fault);
    courses.push(course);
    await expectPromisesKept(service, course, readiness);
    return course;
  }

  it('is stopped in order and started again', async () => {
    const course = await sufferInForm(
      {
        name: 'PostgreSQL is stopped for 2 s',
        happen: () => server.stop(),
        lastsMs: 2000,
        end: () => server.start(),
      },
      'not ready',
    );
    expect(course.refusals).not.toEqual([]);
  });

  it('is killed (kill -9 of all of its processes) and recovers', async () => {
    const course = await sufferInForm(
      {
        name: 'PostgreSQL is killed, and started again after 1 s',
        happen: () => server.kill(),
        lastsMs: 1000,
        end: () => server.start(),
      },
      'not ready',
    );
    expect(course.refusals).not.toEqual([]);
  });

  it('loses one process to the kernel, as when memory is short, and recovers by itself', async () => {
    await sufferInForm(
      {
        name: 'One process of PostgreSQL is killed: it ends all others, and recovers',
        happen: async () => {
          const [backend] = await service.query<{ pid: number }>(
            "SELECT pid FROM pg_stat_activity WHERE application_name = 'animal-store' LIMIT 1",
          );
          process.kill((backend as { pid: number }).pid, 'SIGKILL');
        },
        lastsMs: 0,
        end: () => eventually(() => service.query('SELECT 1')),
      },
      'either',
    );
  });

  it('hangs (SIGSTOP) and goes on', async () => {
    const course = await sufferInForm(
      {
        name: 'PostgreSQL is frozen for 9 s',
        happen: () => server.freeze(),
        lastsMs: 9000,
        end: async () => server.goOn(),
      },
      'not ready',
    );
    expect(course.refusals).not.toEqual([]);
  });

  it('hangs (SIGSTOP) for less than a question has, and goes on', async () => {
    const course = await sufferInForm(
      {
        name: 'PostgreSQL is frozen for 1 s',
        happen: () => server.freeze(),
        lastsMs: 1000,
        end: async () => server.goOn(),
      },
      'either',
    );
    expect(course.refusals).toEqual([]);
  });

  it('has no connection left for others, goes on with those that it has', async () => {
    const crowd = new Crowd(service.databaseUrl);
    const course = await sufferInForm(
      {
        name: 'Others take all connections that are left, for 2 s',
        happen: () => crowd.fill(),
        lastsMs: 2000,
        end: () => crowd.leave(),
      },
      'ready',
    );
    expect(course.refusals).toEqual([]);
  });

  it('has no connection left at all', async () => {
    const crowd = new Crowd(service.databaseUrl);
    const course = await sufferInForm(
      {
        name: 'Others take all connections, those of the service too, for 2 s',
        happen: async () => {
          while (crowd.size < MAX_CONNECTIONS - RESERVED) {
            await query(
              server.url(),
              `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'animal-store%'`,
            );
            await crowd.fill();
          }
        },
        lastsMs: 2000,
        end: () => crowd.leave(),
      },
      'not ready',
    );
    expect(course.refusals).not.toEqual([]);
  });

  it.each([
    ['pets', 'has its animals locked, serves all else', 5000],
    ['rate_limit_counters', 'has its counters locked, counts alone', 2000],
  ])('(%s) %s', async (table, _what, lastsMs) => {
    let lock: Awaited<ReturnType<typeof hold>>;
    const course = await sufferInForm(
      {
        name: `The table ${table} is locked for ${lastsMs / 1000} s`,
        happen: async () => {
          lock = await hold(server.url('animal_store'), `LOCK TABLE ${table}`);
        },
        lastsMs,
        end: () => lock.letGo(),
      },
      'ready',
    );
    const failures = table === 'pets' ? course.failuresOf('orders') : course.refusals;
    expect(failures).toEqual([]);
  });

  it('is not there when the service starts', async () => {
    await server.stop();
    const late = await service.start();
    await late.process.says(/Not ready: the database cannot be used/);
    const course = await sufferInForm(
      {
        name: 'PostgreSQL is not there when the service starts, and comes after a second',
        lastsMs: 1000,
        end: () => server.start(),
      },
      'not ready',
      late.url,
    );
    expect(course.refusals).not.toEqual([]);
  });
});
