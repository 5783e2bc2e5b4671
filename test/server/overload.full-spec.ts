import { execFile } from 'node:child_process';
import { connect } from 'node:net';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { createDatabase, type TestDatabase } from '../support/database/database.js';
import { issueKey } from '../support/keys/keys.js';
import { ServiceProcesses } from '../support/service/service-processes.js';

const execute = promisify(execFile);
const UNLIMITED = { plan: 'enterprise', perMinute: 10_000_000, perDay: 100_000_000 } as const;
/** The default. */
const MAX_CONCURRENT_REQUESTS = 250;
/**
 * The time of each order in the database, as if it were far away: its connections are then the bottleneck, not the CPU.
 */
const ORDER_SECONDS = 0.01;
const TIMES = 3;
const SECONDS = 10;
const SHED_MS = 50;
const ATTEMPTS = 3;
/** The time between the starts of two slow clients. */
const ARRIVAL_MS = 4;
/** Tolerance for a busy machine. */
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
  ({ key } = await issueKey(database, UNLIMITED));
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

/** Places orders at a constant rate, or by a number of clients that each wait for their response. */
async function placeOrders(
  course: { seconds: number } & ({ perSecond: number } | { clients: number }),
): Promise<Outcome[]> {
  const { stdout } = await execute(
    process.execPath,
    [
      path.join(__dirname, '..', 'support', 'load', 'open-loop.mjs'),
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
const summaryOf = (status: string, ms: number[]) =>
  `${Math.round(ms.length / SECONDS)} a second get ${status}, in ${quantile(ms, 0.5)} ms (median), ${quantile(ms, 0.95)} ms (95 %), ${quantile(ms, 0.99)} ms (99 %), ${quantile(ms, 1)} ms (longest)`;

/** Measures the service at three times its capacity, and returns the times of both kinds of responses. */
async function overload() {
  const capacity = of(await placeOrders({ seconds: SECONDS, clients: 64 }), 201).length / SECONDS;
  const outcomes = await placeOrders({ seconds: SECONDS, perSecond: capacity * TIMES });
  const served = of(outcomes, 201);
  const shed = of(outcomes, 503);
  process.stdout.write(
    `One after the other: ${Math.round(capacity)} orders a second. At ${TIMES} times that: ${summaryOf('201', served)}; ${summaryOf('503', shed)}\n`,
  );
  expect(served.length + shed.length).toBe(outcomes.length);
  return { capacity, served, shed };
}

describe('a service at three times its capacity', () => {
  it('serves its capacity, none of it late, and returns 503 to the rest in under 50 ms', async () => {
    await placeOrders({ seconds: 2, clients: 64 });
    let seen = await overload();
    // Other load on the machine can only make the service look slower.
    for (let more = 1; more < ATTEMPTS && quantile(seen.shed, 0.99) >= SHED_MS; more += 1) {
      seen = await overload();
    }
    const { capacity, served, shed } = seen;
    expect(served.length / SECONDS).toBeGreaterThan(0.8 * capacity);
    // A request that gets a slot waits only for the other requests with slots.
    expect(quantile(served, 1)).toBeLessThan(2 * (MAX_CONCURRENT_REQUESTS / capacity) * 1000);
    expect(quantile(shed, 0.99)).toBeLessThan(SHED_MS);
  });
});

/** Sends a byte a second, so that the connection is never silent, with more clients than there are slots. */
async function sendSlowly(start: string, rest: string): Promise<{ responses: string[]; longestMs: number }> {
  const { hostname, port } = new URL(url);
  const clients = Array.from({ length: 2 * MAX_CONCURRENT_REQUESTS }, async (_client, index) => {
    // Clients arrive one by one, so that none is shed while the first are authorized.
    await pause(index * ARRIVAL_MS);
    const socket = connect(Number(port), hostname);
    socket.write(start);
    let sent = 0;
    const sending = setInterval(() => socket.write(rest[(sent += 1) % rest.length] ?? ''), 1000);
    // The response may come with a reset, since the service no longer reads what is sent.
    const response = await text(socket).catch(String);
    clearInterval(sending);
    return response;
  });
  const startMs = performance.now();
  const responses = await Promise.all(clients);
  return { responses, longestMs: performance.now() - startMs };
}

it('slow requests get 408 in time, and delay no other client', async () => {
  const head = `POST /v1/store/orders HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n`;
  const sending = Promise.all([
    sendSlowly(head, 'X-Slow: header\r\n'),
    sendSlowly(`${head}Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n`, ' '),
  ]);
  const orders = await placeOrders({ seconds: 10, clients: 8 });
  expect(orders.filter(({ status }) => status !== 201)).toEqual([]);
  const [headers, bodies] = await sending;
  for (const response of [...headers.responses, ...bodies.responses]) {
    expect(response).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/);
    expect(response).toMatch(/\{"code":"request_timeout","message":"[^"]+","status":408\}$/);
  }
  // Node checks every five seconds.
  const arrivalMs = 2 * MAX_CONCURRENT_REQUESTS * ARRIVAL_MS;
  expect(headers.longestMs).toBeLessThan(20_000 + 5000 + SLACK_MS + arrivalMs);
  expect(bodies.longestMs).toBeLessThan(30_000 + 5000 + SLACK_MS + arrivalMs);
});
