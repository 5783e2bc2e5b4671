import path from 'node:path';
import { DebianPostgres, describeOnDebianPostgres } from '../support/programs/debian-postgres.js';
import { expectPromisesKept, type Readiness } from './fault-promises.js';
import { type Course, type Fault, suffer } from './faults.js';
import { hasVolumes, Volume } from '../support/programs/volume.js';
import { OperatedService } from './operated-service.js';

const DATA_MEGABYTES = 60;
/** Extends the existing tables: rows that are rolled back take space too. */
const TAKE_ALL_PAGES =
  "INSERT INTO pets (name, category_id) SELECT 'filler', 1 FROM generate_series(1, 1000000)";
/** Space for a few files of 16 MB. */
const LOG_MEGABYTES = 80;
/** Writes beside the service, until the existing files of the log are used up and PostgreSQL ends. */
const WRITE_UNTIL_IT_ENDS = `
  sql="SELECT pg_logical_emit_message(false, 'x', repeat('x', 1000000))"
  while psql --quiet --command="$sql" "$URL"; do :; done >writer.log 2>&1
  while pg_ctl status; do sleep 0.1; done`;

(hasVolumes() ? describeOnDebianPostgres : describe.skip)('a service under load', () => {
  let server: DebianPostgres;
  let service: OperatedService;
  let url: string;
  let data: Volume;
  let log: Volume;

  beforeAll(async () => {
    [data, log] = await Promise.all([Volume.mount(DATA_MEGABYTES), Volume.mount(LOG_MEGABYTES)]);
    server = await DebianPostgres.create(
      'fsync = on',
      'autovacuum = off',
      'min_wal_size = 32MB',
      'max_wal_size = 48MB',
    );
    await server.shell(
      'mv "$PGDATA/pg_wal" "$LOG" && ln -s "$LOG/pg_wal" "$PGDATA" && mv "$PGDATA" "$DATA"',
      {
        LOG: log.folder,
        DATA: data.folder,
      },
    );
    server.data = path.join(data.folder, 'data');
    await server.start();
    service = await OperatedService.on(server);
    url = await service.startReady();
  });
  afterAll(async () => {
    await service.stop();
    await Promise.all([data.remove(), log.remove()]);
  });

  async function runFault(fault: Fault, readiness: Readiness): Promise<Course> {
    const course = await suffer(url, service.key, fault);
    await expectPromisesKept(service, course, readiness);
    return course;
  }

  it('serves reads and rejects writes while the disk of the data is full', async () => {
    const course = await runFault(
      {
        happen: async () => {
          await data.fill();
          await expect(service.query(TAKE_ALL_PAGES)).rejects.toThrow('No space left on device');
        },
        lastsMs: 3000,
        end: () => data.clear(),
      },
      'ready',
    );
    expect([...course.findFailures('read'), ...course.findFailures('orders')]).toStrictEqual([]);
    expect(course.findFailures('add')).not.toStrictEqual([]);
    expect(course.findFailures('add-once')).not.toStrictEqual([]);
  });

  it('recovers after the disk of the log was full and PostgreSQL ended', async () => {
    const course = await runFault(
      {
        happen: async () => {
          await log.fill();
          await server.shell(WRITE_UNTIL_IT_ENDS, { URL: server.url() });
        },
        lastsMs: 2000,
        end: async () => {
          await log.clear();
          await server.start();
        },
      },
      'not ready',
    );
    expect(course.failedResponses).not.toStrictEqual([]);
  });
});
