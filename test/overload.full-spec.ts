import { execFile } from 'node:child_process';
import { connect } from 'node:net';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { createDatabase, type TestDatabase } from './support/database.js';
import { issueKey } from './support/keys.js';
import { ServiceProcesses } from './support/service-processes.js';

const execute = promisify(execFile);
const WIDE = { plan: 'enterprise', perMinute: 10_000_000, perDay: 100_000_000 } as const;
/** As is the default. */
const MAX_CONCURRENT_REQUESTS = 250;
/** What each order takes in the database, as if that were some way off, so that its connections bound the service, and not its CPU. */
const ORDER_SECONDS = 0.01;
const TIMES = 3;
const SECONDS = 10;
const SHED_MS = 50;
const ATTEMPTS = 3;
/** Between two clients that dribble. */
const ARRIVAL_MS = 4;
/** What a busy machine takes for the rest. */
const SLACK_MS = 2000;

const services = new ServiceProcesses();
let database: TestDatabase;
let url: string;
let key: string;

beforeAll(async () => {
  database = await createDatabase();
  await database.query(`INSERT INTO pets (name, category_id) VALUES ('Rex', 7)`);
  await database.query(`
    CREATE FUNCTION take_time() RETURNS trigger LANGUAGE plpgsql AS
      'BEGIN PERFORM pg_sleep(${ORDER_SECONDS}); RETURN NEW; END'`);
  await database.query(
    'CREATE TRIGGER far BEFORE INSERT ON orders FOR EACH ROW EXECUTE FUNCTION take_time()',
  );
  ({ key } = await issueKey(database, WIDE));
  url = await services.start({ SHUTDOWN_DELAY: '0', LOG_LEVEL: 'warn', DATABASE_URL: database.url }).ready();
});
afterAll(async () => {
  await services.end('SIGTERM');
  await database.drop();
});

interface Outcome {
  status: number;
  ms: number;
}

/** Orders, at a rate whatever comes back, or by so many clients one after the other. */
async function order(
  course: { seconds: number } & ({ perSecond: number } | { clients: number }),
): Promise<Outcome[]> {
  const { stdout } = await execute(
    process.execPath,
    [
      path.join(__dirname, 'support', 'open-loop.mjs'),
      JSON.stringify({
        url: `${url}/v1/store/orders`,
        method: 'POST',
        headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
        body: JSON.stringify({ petId: 1, quantity: 1 }),
        ...course,
      }),
    ],
    { maxBuffer: 1e8 },
  );
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as [number, number])
    .map(([status, ms]) => ({ status, ms }));
}

const of = (outcomes: Outcome[], status: number) =>
  outcomes
    .filter((outcome) => outcome.status === status)
    .map(({ ms }) => ms)
    .toSorted((one, other) => one - other);
const quantile = (sorted: number[], share: number) =>
  Math.round(sorted[Math.floor((sorted.length - 1) * share)] ?? NaN);
const told = (status: string, ms: number[]) =>
  `${Math.round(ms.length / SECONDS)} a second are told ${status}, in ${quantile(ms, 0.5)} ms (median), ${quantile(ms, 0.95)} ms (95 %), ${quantile(ms, 0.99)} ms (99 %), ${quantile(ms, 1)} ms (longest)`;

/** What is seen at three times what can be served; both kinds of answers by their time. */
async function overload() {
  const capacity = of(await order({ seconds: SECONDS, clients: 64 }), 201).length / SECONDS;
  const outcomes = await order({ seconds: SECONDS, perSecond: capacity * TIMES });
  const served = of(outcomes, 201);
  const shed = of(outcomes, 503);
  process.stdout.write(
    `One after the other: ${Math.round(capacity)} orders a second. At ${TIMES} times that: ${told('201', served)}; ${told('503', shed)}\n`,
  );
  expect(served.length + shed.length).toBe(outcomes.length);
  return { capacity, served, shed };
}

it('at three times what can be served as much is served, none of it late, and the rest is told 503 in under 50 ms', async () => {
  await order({ seconds: 2, clients: 64 });
  let seen = await overload();
  // What else the machine does can only make it look slower.
  for (let more = 1; more < ATTEMPTS && quantile(seen.shed, 0.99) >= SHED_MS; more += 1) {
    seen = await overload();
  }
  const { capacity, served, shed } = seen;
  expect(served.length / SECONDS).toBeGreaterThan(0.8 * capacity);
  // Who is served waits for the others that are, and for nobody else.
  expect(quantile(served, 1)).toBeLessThan(2 * (MAX_CONCURRENT_REQUESTS / capacity) * 1000);
  expect(quantile(shed, 0.99)).toBeLessThan(SHED_MS);
});

/** A byte a second, so that the connection is never silent; as many clients as are served at once, and more. */
async function dribble(start: string, rest: string): Promise<{ answers: string[]; longestMs: number }> {
  const { hostname, port } = new URL(url);
  const clients = Array.from({ length: 2 * MAX_CONCURRENT_REQUESTS }, async (_client, index) => {
    // Nobody is to be shed while the first are authorized.
    await pause(index * ARRIVAL_MS);
    const socket = connect(Number(port), hostname);
    socket.write(start);
    let sent = 0;
    const dribbling = setInterval(() => socket.write(rest[(sent += 1) % rest.length] ?? ''), 1000);
    // The answer may come with a reset, as what was sent is not read any more.
    const answer = await text(socket).catch(String);
    clearInterval(dribbling);
    return answer;
  });
  const startMs = performance.now();
  const answers = await Promise.all(clients);
  return { answers, longestMs: performance.now() - startMs };
}

it('clients that dribble a request are told 408 in time, and hold up nobody', async () => {
  const head = `POST /v1/store/orders HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n`;
  const dribbling = Promise.all([
    dribble(head, 'X-Slow: header\r\n'),
    dribble(`${head}Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n`, ' '),
  ]);
  const orders = await order({ seconds: 10, clients: 8 });
  expect(orders.filter(({ status }) => status !== 201)).toEqual([]);
  const [headers, bodies] = await dribbling;
  for (const answer of [...headers.answers, ...bodies.answers]) {
    expect(answer).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/);
    expect(answer).toMatch(/\{"code":"request_timeout","message":"[^"]+","status":408\}$/);
  }
  // What Node finds out every five seconds.
  const arrivalMs = 2 * MAX_CONCURRENT_REQUESTS * ARRIVAL_MS;
  expect(headers.longestMs).toBeLessThan(20_000 + 5000 + SLACK_MS + arrivalMs);
  expect(bodies.longestMs).toBeLessThan(30_000 + 5000 + SLACK_MS + arrivalMs);
});
