import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import getPort from 'get-port';
import { createDatabase, type TestDatabase } from '../support/database/database.js';
import { expectLocksWaitedFor } from '../support/database/locks.js';
import { eventually, until } from '../support/eventually.js';
import { hasVolumes, Volume } from '../support/programs/volume.js';
import { send } from '../support/http/http.js';
import { issueKey, UNLIMITED } from '../support/keys/keys.js';
import { hold } from '../support/database/holding.js';
import { scrape } from '../support/http/metrics.js';
import { StalledPipe } from './log-readers.js';
import { CLEAN } from '../support/service/service-process.js';

const ROOT = path.join(__dirname, '..', '..');
const LOST_TERMINAL = path.join(__dirname, 'lost-terminal.py');
const GRACE_MS = 5_000;
/** A start and several thousand requests take longer on a busy machine. */
const PATIENCE_MS = 60_000;
/** More than a pipe (64 KiB) and what is kept (1 MiB) have space for: a line has at least 600 bytes. */
const REQUESTS = 2_000;
const WAVE = 100;
const LONG = 'x'.repeat(256);

let database: TestDatabase;
let key: string;

beforeAll(async () => {
  database = await createDatabase();
  ({ key } = await issueKey(database, UNLIMITED));
});
afterAll(() => database.drop());

/** The built service, whose standard output and standard error go where a test wants. */
class Service {
  readonly ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;

  private constructor(
    readonly url: string,
    private readonly metricsUrl: string,
    private readonly child: ChildProcess,
  ) {
    this.ended = once(child, 'exit').then(([code, signal]) => ({ code, signal }));
  }

  /** Starts it, and waits until it is ready. */
  static async start(output: number | 'ignore', command: readonly string[] = []): Promise<Service> {
    const [port, metricsPort] = [await getPort(), await getPort()];
    const [program, ...args] = [...command, process.execPath, path.join(ROOT, 'dist', 'main.js')];
    const settings = {
      DATABASE_URL: database.url,
      APP_ENV: 'staging',
      SHUTDOWN_GRACE: `${GRACE_MS / 1000}s`,
    };
    const ports = { PORT: String(port), METRICS_PORT: String(metricsPort) };
    const child = spawn(program, args, {
      env: { ...process.env, ...CLEAN, ...settings, ...ports },
      stdio: ['ignore', output, output],
      // A group of its own, so that its end also ends what runs the terminal.
      detached: true,
    });
    const service = new Service(`http://127.0.0.1:${port}`, `http://127.0.0.1:${metricsPort}`, child);
    await until(async () => (await service.readiness()) === 200, PATIENCE_MS);
    return service;
  }

  private readiness(): Promise<number> {
    return send(`${this.url}/readyz`).then(
      ({ status }) => status,
      () => 0,
    );
  }

  /** Sends requests until no log can keep all their lines. Expects each to succeed. */
  async logMuch(): Promise<void> {
    for (let sent = 0; sent < REQUESTS; sent += WAVE) {
      const wave = Array.from({ length: WAVE }, (_, n) =>
        send(`${this.url}/v1/pets?limit=1&${n}`, {
          key,
          headers: { 'User-Agent': LONG },
          patienceMs: GRACE_MS,
        }),
      );
      const statuses = (await Promise.all(wave)).map(({ status }) => status);
      expect(new Set(statuses)).toEqual(new Set([200]));
    }
  }

  async droppedLines(): Promise<number> {
    const { samples } = await scrape(this.metricsUrl);
    return samples.find(({ name }) => name === 'animal_store_log_lines_dropped_total')?.value ?? Number.NaN;
  }

  stop() {
    this.child.kill('SIGTERM');
    return this.ended;
  }

  /** Ends it and its terminal, if they still run. */
  async kill(): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null && this.child.pid !== undefined) {
      process.kill(-this.child.pid, 'SIGKILL');
      await this.ended;
    }
  }
}

interface Line {
  time: string;
  requestId?: string;
  droppedLines?: number;
}

/** Returns the lines of the log, each of which is one JSON object. */
const parseLines = (text: string): Line[] =>
  text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('Animal Store '))
    .map((line) => JSON.parse(line) as Line);

/** Expects SIGTERM to end it with exit code 0 within its grace, after the response to a request in flight. */
async function expectOrderlyStop(service: Service): Promise<void> {
  const lock = await hold(database.url, 'LOCK TABLE pets');
  const created = send(`${service.url}/v1/pets`, {
    method: 'POST',
    key,
    body: { name: 'Rex', categoryId: 1 },
  });
  await eventually(() => expectLocksWaitedFor(database, 1));
  const startMs = performance.now();
  const ended = service.stop();
  await until(() =>
    send(`${service.url}/livez`).then(
      () => false,
      () => true,
    ),
  );
  await lock.letGo();
  expect((await created).status).toBe(201);
  expect(await ended).toEqual({ code: 0, signal: null });
  expect(performance.now() - startMs).toBeLessThan(GRACE_MS);
}

let service: Service;
afterEach(() => service.kill());

describe('a service whose log cannot be written', () => {
  let pipe: StalledPipe;
  beforeEach(() => {
    pipe = new StalledPipe();
  });
  afterEach(() => pipe.close());

  it.each([
    ['the device is full', () => openSync('/dev/full', 'w')],
    ['the reader stalls', () => pipe.input],
    [
      'the reader has ended',
      () => {
        pipe.breakOff();
        return pipe.input;
      },
    ],
  ])('serves requests, counts dropped lines and ends in time: %s', async (_why, open) => {
    service = await Service.start(open());
    await service.logMuch();
    expect(await service.droppedLines()).toBeGreaterThan(0);
    await expectOrderlyStop(service);
  });

  it.each([
    ['it is closed', 'close'],
    ['it stalls, as after Ctrl-S', 'stall'],
  ])('serves requests on a terminal and ends in time: %s', async (_why, how) => {
    service = await Service.start('ignore', ['python3', LOST_TERMINAL, how]);
    await service.logMuch();
    await expectOrderlyStop(service);
  });

  it('logs all kept lines in order, then the number of dropped ones, once it is read again', async () => {
    service = await Service.start(pipe.input);
    await service.logMuch();
    const dropped = await service.droppedLines();
    pipe.read();
    await until(() => pipe.text.includes('"droppedLines":'));
    await send(`${service.url}/livez`, { headers: { 'X-Request-Id': 'afterwards' } });
    await expectOrderlyStop(service);
    const lines = parseLines(pipe.text);
    const gap = lines.findIndex((line) => line.droppedLines !== undefined);
    expect(lines[gap]).toMatchObject({ level: 'warn', droppedLines: dropped });
    expect(lines.filter((line) => line.droppedLines !== undefined)).toHaveLength(1);
    expect(lines.findIndex(({ requestId }) => requestId === 'afterwards')).toBeGreaterThan(gap);
    expect(lines.map(({ time }) => time)).toEqual(lines.map(({ time }) => time).toSorted());
    expect(pipe.text).toContain('Animal Store is shutting down (SIGTERM)\n');
  });
});

(hasVolumes() ? describe : describe.skip)('a service whose log is on a full disk', () => {
  let volume: Volume;
  beforeAll(async () => {
    volume = await Volume.mount(4);
  });
  afterAll(() => volume.remove());

  it('serves requests, and logs whole lines and the number of dropped ones once there is space', async () => {
    const file = path.join(volume.folder, 'animal-store.log');
    const log = openSync(file, 'a');
    service = await Service.start(log);
    closeSync(log);
    await volume.fill();
    await service.logMuch();
    const dropped = await service.droppedLines();
    await volume.clear();
    await until(async () => (await readFile(file, 'utf8')).includes(`"droppedLines":${dropped}`));
    await expectOrderlyStop(service);
    expect(
      parseLines(await readFile(file, 'utf8')).filter((line) => line.droppedLines !== undefined),
    ).toHaveLength(1);
  });
});
