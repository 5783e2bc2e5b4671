import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createDatabase, type TestDatabase } from '../support/database/database.js';
import { send } from '../support/http/http.js';
import { dial, head } from '../support/http/raw-http.js';
import { issueKey, UNLIMITED } from '../support/keys/keys.js';
import type { ServiceProcess } from '../support/service/service-process.js';
import { ServiceProcesses } from '../support/service/service-processes.js';

const SILENT_CLIENTS = path.join(__dirname, 'silent-clients.py');
const MAX_MEMORY_BYTES = 450_000_000;
const MAX_WAIT_MS = 1_500;
/** The time between two requests of the other client, and how long it goes on after the crowd is complete. */
const PROBE_INTERVAL_MS = 20;
const AFTERWARDS_MS = 1_000;
/** A page of 158 kB: a hundred names of 255 control characters, each of which takes six bytes in JSON. */
const LARGE_PAGE =
  'INSERT INTO pets (name, category_id) SELECT repeat(chr(1), 255), 1 FROM generate_series(1, 100)';
const PET = '{"name":"Rex","categoryId":7}';

const services = new ServiceProcesses();
let silent: ChildProcess | null = null;
const trickling: Socket[] = [];
let database: TestDatabase;
let service: ServiceProcess;
let url: string;
/** The key of the crowd, and that of the other client. */
let crowdKey: string;
let key: string;

beforeAll(async () => {
  database = await createDatabase();
  await database.query(LARGE_PAGE);
  ({ key: crowdKey } = await issueKey(database, UNLIMITED));
  ({ key } = await issueKey(database, UNLIMITED));
  service = services.start({
    LOG_LEVEL: 'error',
    // The image sets the same.
    MALLOC_ARENA_MAX: '1',
    DATABASE_URL: database.url,
  });
  url = await service.ready();
});
afterEach(async () => {
  trickling.splice(0).forEach((socket) => socket.destroy());
  if (silent !== null) {
    const ended = once(silent, 'exit');
    silent.kill('SIGKILL');
    silent = null;
    await ended;
  }
});
afterAll(async () => {
  await services.end('SIGTERM');
  await database.drop();
});

const request = (line: string, ...headers: string[]) =>
  head(line, `Authorization: Bearer ${crowdKey}`, ...headers);
const document = () => request('GET /openapi.json');
const page = () => request('GET /v1/pets?limit=100');
const creation = (length: number) =>
  request('POST /v1/pets', 'Content-Type: application/json', `Content-Length: ${length}`);

/** A creation without a key, and nearly all of its body. */
const denied = () =>
  head('POST /v1/pets', 'Content-Type: application/json', 'Content-Length: 65536') + ' '.repeat(65_000);

/** Opens connections, twenty from each address, whose clients send this text and read nothing. */
async function openSilent(count: number, text: string): Promise<void> {
  silent = spawn('python3', [SILENT_CLIENTS], { stdio: ['pipe', 'pipe', 'inherit'] });
  silent.stdin?.write(`${JSON.stringify({ port: Number(new URL(url).port), count, text })}\n`);
  await once(silent.stdout ?? silent, 'data');
}

/** Opens connections that send a body of a byte a second. */
async function trickle(count: number): Promise<void> {
  for (let opened = 0; opened < count; opened += 1) {
    const socket = dial(url).on('error', () => {});
    socket.write(creation(1000));
    const sending = setInterval(() => socket.write(' '), 1000);
    socket.once('close', () => clearInterval(sending));
    trickling.push(socket);
    await new Promise((resolve) => socket.once('connect', resolve));
  }
}

/** The peak resident memory of the service. */
async function peakMemoryBytes(): Promise<number> {
  const status = await readFile(`/proc/${service.pid}/status`, 'utf8');
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
}

describe('a service under a crowd', () => {
  it.each<[string, () => Promise<void>]>([
    ['3,000 connections that never read a document', () => openSilent(3000, document())],
    ['260 unread large pages of one key', () => openSilent(260, page())],
    ['20,000 pipelined requests on one connection', () => openSilent(1, page().repeat(20_000))],
    ['500 pipelined documents on each of 200', () => openSilent(200, document().repeat(500))],
    ['200 pipelined large pages on each of 200', () => openSilent(200, page().repeat(200))],
    ['700 bodies of a byte a second', () => trickle(700)],
    ['4,000 connections without a key, whose bodies never arrive', () => openSilent(4000, denied())],
    [
      '1,000 pipelined creations on each of 50 connections',
      () => openSilent(50, (creation(PET.length) + PET).repeat(1000)),
    ],
  ])('serves another client in time, by the same process within its memory: %s', async (name, gather) => {
    const gathered = gather().then(() => pause(AFTERWARDS_MS));
    const isOver = { value: false };
    void gathered.finally(() => (isOver.value = true));
    const waits: number[] = [];
    const failures: number[] = [];
    while (!isOver.value) {
      const sentMs = performance.now();
      const { status } = await send(`${url}/v1/pets?limit=1`, { key });
      waits.push(performance.now() - sentMs);
      if (status !== 200) {
        failures.push(status);
      }
      await pause(PROBE_INTERVAL_MS);
    }
    await gathered;
    const [longest, memory] = [Math.max(...waits), await peakMemoryBytes()];
    process.stdout.write(
      `${name}: ${waits.length} requests, the longest ${Math.round(longest)} ms; ` +
        `${Math.round(memory / 1e6)} MB\n`,
    );
    expect([[], [503]]).toContainEqual(failures);
    expect(longest).toBeLessThan(MAX_WAIT_MS);
    expect(memory).toBeLessThan(MAX_MEMORY_BYTES);
  });
});
