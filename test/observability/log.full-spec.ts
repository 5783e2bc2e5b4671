import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import type { IssuedKey } from '../../src/keys/key.schemas.js';
import { generateApiKey } from '../../src/auth/rules/api-key.js';
import { createDatabase, type TestDatabase } from '../support/database/database.js';
import { startDatabaseProxy } from '../support/programs/database-proxy.js';
import { documented } from '../support/documented-commands.js';
import { until } from '../support/eventually.js';
import { send } from '../support/http/http.js';
import { ban } from '../support/keys/bans.js';
import { DAY_MS } from '../support/time/clock.js';
import { issueKey } from '../support/keys/keys.js';
import { sendRaw } from '../support/http/raw-http.js';
import { expectNoSecrets } from '../support/service/secrets.js';
import { run, ServiceProcess } from '../support/service/service-process.js';

const ROLE = 'test_of_the_log';
const PASSWORD = 'correct-horse-battery';
/**
 * Characters that would end a line, move the cursor, or change colour or direction; except line feeds and
 * DEL, which has no effect.
 */
const UNSHOWABLE = /[^\P{Cc}\n\x7f]|[\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;
const LONGEST_LINE = 4096;

interface Line {
  level: string;
  time: string;
  msg: string;
  requestId?: string;
  path?: string;
  status?: number;
  decision?: string;
  userAgent?: string;
}

let database: TestDatabase;
let service: ServiceProcess;
let url: string;

beforeAll(async () => {
  database = await createDatabase();
  service = new ServiceProcess('main.js', { ...settings(), TRUST_PROXY: '1' });
  url = await service.listening();
});
afterAll(async () => {
  await service.kill('SIGTERM');
  await database.drop();
});

function settings(databaseUrl = database.url): Record<string, string> {
  return { DATABASE_URL: databaseUrl, APP_ENV: 'staging', LOG_LEVEL: 'trace' };
}

/** Returns the lines of the log, each of which is one JSON object. */
function parseLines({ stdout }: { stdout: string }): Line[] {
  const [, ...lines] = stdout.slice(stdout.indexOf('Animal Store listens')).trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as Line);
}

/** Sends a request, and waits until it is in the log, behind all that were sent before. */
async function waitForLog(id: string): Promise<void> {
  await send(`${url}/livez`, { headers: { 'X-Request-Id': id } });
  await until(() => service.stdout.includes(id));
}

describe('the log of a service', () => {
  let key: string;
  beforeAll(async () => {
    ({ key } = await issueKey(database, { plan: 'business' }));
  });

  /** Sends a request with this target and header, as no HTTP client would. */
  const get = (target: string, header = 'Accept: */*') =>
    sendRaw(url, `GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${header}\r\n\r\n`);
  const create = (name: string) =>
    send(`${url}/v1/pets`, { method: 'POST', key, body: { name, categoryId: 7 } });

  const HEADERS = ['X-Request-Id', 'User-Agent', 'X-Forwarded-For', 'Host'];
  const FORGED = '{"level":"info","msg":"forged"}';
  const HOSTILE = [
    'a\r\n' + FORGED,
    '\u001b[2J\u001b[31mred',
    '\u009b31mred',
    '\u007f\u0008\u0008',
    `\u2028${FORGED}\u2029`,
    '\u202etxt.exe',
    '","level":"fatal","msg":"forged',
    'x'.repeat(10_000),
  ];

  it('has no forged lines or control characters from hostile paths, headers and bodies', async () => {
    for (const text of HOSTILE) {
      const latin1 = Buffer.from(text.replaceAll(/[\r\n]/g, ' ')).toString('latin1');
      for (const name of [...HEADERS, 'Idempotency-Key', 'Authorization']) {
        await get('/v1/pets', `${name}: ${latin1}`);
      }
      await get(`/v1/${latin1}`);
      await send(`${url}/v1/pets/${encodeURIComponent(text)}?cursor=${encodeURIComponent(text)}`, { key });
      await send(`${url}/v1/pets`, { method: 'POST', key, body: `{"name":"${text}` });
    }
    // PostgreSQL puts the rejected values into its error, which is logged.
    await database.query("ALTER TABLE pets ADD CONSTRAINT closed CHECK (name NOT LIKE 'refused%')");
    for (const text of HOSTILE.filter(({ length }) => length < 200)) {
      expect((await create(`refused ${text}`)).status).toBe(500);
    }
    await database.query('ALTER TABLE pets DROP CONSTRAINT closed');
    await waitForLog('after-hostile');

    expect(UNSHOWABLE.exec(service.stdout)).toBeNull();
    const lines = parseLines(service);
    expect(lines.length).toBeGreaterThan(HOSTILE.length * 8);
    expect(lines.filter(({ msg }) => msg === 'forged')).toStrictEqual([]);
    const sizes = lines.filter(({ msg }) => msg === 'request').map((line) => JSON.stringify(line).length);
    expect(Math.max(...sizes)).toBeLessThan(LONGEST_LINE);
    expect(lines.filter(({ status }) => status === 500)).toHaveLength(HOSTILE.length - 1);
    expect(service.stderr).toBe('');
  });

  it('has one line for a malformed request, with address, reason, and the id of its response', async () => {
    for (const [bytes, status, reason] of [
      ['nonsense\r\n\r\n', 400, 'Parse Error: Invalid method encountered'],
      [`GET / HTTP/1.1\r\nA: ${'a'.repeat(17_000)}\r\n\r\n`, 431, 'Parse Error: Header overflow'],
    ] as const) {
      const { headers } = await sendRaw(url, bytes);
      const id = headers['x-request-id'] ?? '';
      await until(async () => service.stdout.includes(id));
      expect(parseLines(service).filter(({ requestId }) => requestId === id)).toMatchObject([
        { level: 'info', status, clientAddress: '127.0.0.1', reason, msg: 'rejected' },
      ]);
    }
  });

  it('has no key, wherever a client put it by mistake', async () => {
    const leaked = generateApiKey('staging');
    await send(`${url}/v1/pets/${leaked}?key=${leaked}&access_token=${leaked}`, { key });
    await send(`${url}/${leaked}`, { key: leaked });
    await create(leaked);
    await send(`${url}/v1/pets`, { method: 'POST', key, headers: { 'Content-Type': leaked }, body: leaked });
    for (const name of [...HEADERS, 'X-Api-Key', 'Cookie', 'Referer']) {
      await get('/v1/pets', `${name}: ${leaked}`);
    }
    await get(`http://${leaked}/v1/pets`);
    await get(`/v1/pets/%zz${leaked}`);
    await get(`/v1/${leaked.replace('a', '%61')}`);
    await sendRaw(url, `${leaked}\r\n\r\n`);
    // The error of PostgreSQL has the whole rejected row, with the hash of a key.
    await database.query("ALTER TABLE api_keys ADD CONSTRAINT closed CHECK (name <> 'refused')");
    const { key: administrator } = await issueKey(database, { role: 'admin', plan: 'business' });
    const issue = (name: string) =>
      send(`${url}/admin/keys`, { method: 'POST', key: administrator, body: { name, plan: 'free' } });
    const issued = (await issue('x')).json.key;
    expect((await issue('refused')).status).toBe(500);
    await database.query('ALTER TABLE api_keys DROP CONSTRAINT closed');
    await waitForLog('after-keys');
    const log = service.stdout + service.stderr;
    expectNoSecrets(log, [key, leaked, administrator, issued]);
    // Nor is there a hash of the key that was not issued.
    expect(log).not.toMatch(/[0-9a-f]{64}/i);
  });
});

describe('the line of a request', () => {
  /** A key with one request a day, which its second request does not ban. */
  let dayLimited: IssuedKey;
  /** A banned key with fewer requests left in the minute than in the day, whatever the time is. */
  let banned: IssuedKey;

  beforeAll(async () => {
    dayLimited = await issueKey(database, { plan: 'enterprise', perMinute: 1000, perDay: 1 });
    banned = await issueKey(database, { plan: 'enterprise', perMinute: 1, perDay: 5 });
    await fetchLine('/v1/pets', banned.key);
    await ban(database, banned, new Date(Date.now() + 2 * DAY_MS));
  });

  /** Sends a request with this key and these headers, and returns its only line in the log. */
  async function fetchLine(
    target: string,
    key?: string,
    headers: Record<string, string> = {},
  ): Promise<Line> {
    const response = await send(url + target, { key, headers });
    const id = response.headers.get('x-request-id') ?? '';
    await until(() => service.stdout.includes(`${id}"`));
    const [line, ...others] = parseLines(service).filter(({ requestId }) => requestId === id);
    expect(others).toStrictEqual([]);
    return line as Line;
  }

  const toCaller = ({ id, quotaId, plan }: IssuedKey) => ({ keyId: id, quotaId, plan });

  it('has the caller, the operation, the decision, and the window in the response', async () => {
    expect(await fetchLine('/v1/pets?limit=3', dayLimited.key, { 'User-Agent': 'shop/1.2' })).toEqual({
      level: 'info',
      time: expect.any(String),
      requestId: expect.any(String),
      method: 'GET',
      path: '/v1/pets',
      operation: 'listPets',
      status: 200,
      durationMs: expect.any(Number),
      decision: 'allowed',
      window: 'day',
      limit: 1,
      remaining: 0,
      ...toCaller(dayLimited),
      clientAddress: '127.0.0.1',
      userAgent: 'shop/1.2',
      msg: 'request',
    });
    const denied = { status: 429, decision: 'denied', ...toCaller(dayLimited) };
    expect(await fetchLine('/v1/pets', dayLimited.key)).toMatchObject(denied);
    const deniedByBan = { status: 429, decision: 'banned', ...toCaller(banned) };
    expect(await fetchLine('/v1/pets', banned.key)).toMatchObject(deniedByBan);
    const uncounted = { ...deniedByBan, status: 200, decision: 'uncounted', operation: 'getRateLimit' };
    expect(await fetchLine('/v1/rate-limit', banned.key)).toMatchObject(uncounted);
  });

  it('has the caller whose key is suspended, revoked or expired, without the plan', async () => {
    const keys = {
      suspended_at: await issueKey(database, { plan: 'pro' }),
      revoked_at: await issueKey(database, { plan: 'pro' }),
      expires_at: await issueKey(database, { plan: 'pro' }),
    };
    for (const [column, key] of Object.entries(keys)) {
      await database.query(`UPDATE api_keys SET ${column} = statement_timestamp() WHERE id = $1`, [key.id]);
      const line = await fetchLine('/v1/pets', key.key);
      const { plan: _plan, ...caller } = toCaller(key);
      expect(line).toMatchObject({ status: 401, decision: 'allowed', limit: 300, ...caller });
      expect(line).not.toHaveProperty('plan');
    }
  });

  it('has no caller without a known key, and no decision outside of /v1 and /admin', async () => {
    const anonymous = await fetchLine('/v1/pets');
    expect(anonymous).toMatchObject({ status: 401, decision: 'allowed', window: 'minute', limit: 300 });
    expect(Object.keys(anonymous)).toEqual(expect.not.arrayContaining(['keyId', 'quotaId', 'plan']));
    const health = await fetchLine('/livez');
    expect(health).toMatchObject({ status: 200, operation: 'none' });
    expect(Object.keys(health)).toEqual(expect.not.arrayContaining(['decision', 'limit', 'keyId']));
  });

  it('is found by the documented command that counts 429s by client and limit', async () => {
    const { time } = await fetchLine('/v1/pets', dayLimited.key);
    const folder = await mkdtemp(path.join(tmpdir(), 'animal-store-log-'));
    await writeFile(path.join(folder, 'animal-store.log'), service.stdout);
    const command = documented('observing.md', 'Logs').replace('$(date -u +%F)T12:00', time.slice(0, 10));
    const options = ['-euo', 'pipefail', '-c', command];
    const { stdout } = await promisify(execFile)('bash', options, { cwd: folder });
    await rm(folder, { recursive: true });
    expect(stdout).toMatch(new RegExp(`^ *[2-9] ${dayLimited.id}\tenterprise\tdenied\t1 a day$`, 'm'));
    expect(stdout).toMatch(new RegExp(`^ *1 ${banned.id}\tenterprise\tbanned\t1 a minute$`, 'm'));
  });
});

describe('the log on a terminal', () => {
  it('has one readable line for a request', async () => {
    const { key } = await issueKey(database, { plan: 'free' });
    const onTerminal = new ServiceProcess('main.js', settings(), [], { columns: 200 });
    const itsUrl = await onTerminal.listening();
    await send(`${itsUrl}/v1/pets`, { key });
    await send(`${itsUrl}/v1/pets?limit=0`, { key });
    await onTerminal.waitForOutput(/ 400 /);
    await onTerminal.kill('SIGTERM');
    // oxlint-disable-next-line no-control-regex
    const lines = onTerminal.stdout.replace(/\u001b\[\d+m/g, '').split('\r\n');
    expect(lines.filter((line) => line.includes('request GET'))).toEqual([
      expect.stringMatching(
        /^\[[\d:.]+\] INFO: request GET \/v1\/pets 200 in [\d.]+ ms allowed 59 of 60 a minute left/,
      ),
      expect.stringMatching(/^\[[\d:.]+\] INFO: request GET \/v1\/pets 400 /),
    ]);
  });
});

describe('the output of the service', () => {
  beforeAll(() => database.query(`CREATE ROLE ${ROLE} SUPERUSER LOGIN PASSWORD '${PASSWORD}'`));
  afterAll(() => database.query(`DROP ROLE ${ROLE}`));

  it('has no password while the database goes away and comes back', async () => {
    const role = { username: ROLE, password: PASSWORD };
    const proxy = await startDatabaseProxy(Object.assign(new URL(database.url), role).href);
    const { key } = await issueKey(database);
    const cutOff = new ServiceProcess('main.js', settings(proxy.url));
    const itsUrl = await cutOff.listening();
    const becomes = (status: number, target: string) =>
      until(async () => (await send(itsUrl + target, { key })).status === status);
    await becomes(200, '/v1/pets');
    proxy.goAway();
    await becomes(503, '/v1/pets');
    await becomes(503, '/readyz');
    await proxy.comeBack();
    await becomes(200, '/v1/pets');
    const { stdout, stderr } = await cutOff.kill('SIGTERM');
    proxy.close();
    expect(stdout).toContain('"status":503');
    expect(stdout + stderr).not.toContain(PASSWORD);
  });

  it.each([
    ['at an address where nothing listens', `postgres://me:${PASSWORD}@127.0.0.1:1/store`],
    ['at a badly escaped address', `postgres://me:${PASSWORD}%zz@127.0.0.1:1/store`],
  ])('has no password while it waits for a database: %s', async (_name, address) => {
    const waiting = new ServiceProcess('main.js', settings(address));
    await waiting.listening();
    await waiting.waitForOutput(/Not ready/);
    const { code, stdout, stderr } = await waiting.kill('SIGTERM');
    expect(code).toBe(0);
    expect(stdout + stderr).not.toContain(PASSWORD);
  });

  it.each([
    ['DATABASE_URL', `mysql://me:${PASSWORD}@127.0.0.1/store`],
    ['COUNTER_STORE_URL', `redis://me:${PASSWORD}@:x/`],
  ])('has no password when it cannot start: %s is %s', async (name, wrong) => {
    const { code, stdout, stderr } = await run('main.js', { ...settings(), [name]: wrong });
    expect(code).toBe(1);
    expect(stderr).not.toBe('');
    expect(stdout + stderr).not.toContain(PASSWORD);
  });
});
