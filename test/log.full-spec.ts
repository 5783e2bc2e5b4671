import { generateApiKey } from '../src/auth/api-key.js';
import { createDatabase, type TestDatabase } from './support/database.js';
import { startDatabaseProxy } from './support/database-proxy.js';
import { until } from './support/eventually.js';
import { freePort } from './support/free-port.js';
import { send } from './support/http.js';
import { issueKey } from './support/keys.js';
import { sendRaw } from './support/raw-http.js';
import { expectNoSecrets } from './support/secrets.js';
import { run, ServiceProcess } from './support/service-process.js';

const ROLE = 'test_of_the_log';
const PASSWORD = 'correct-horse-battery';
/** What would end a line, move the cursor, colour or turn what follows; but for the end of each line, and DEL, which does nothing. */
const UNSHOWABLE = /[^\P{Cc}\n\x7f]|[\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;
const LONGEST_LINE = 4096;

interface Line {
  level: number;
  time: string;
  msg: string;
  requestId?: string;
  path?: string;
  status?: number;
}

let database: TestDatabase;

beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

function settings(url = database.url): Record<string, string> {
  return { DATABASE_URL: url, APP_ENV: 'staging', LOG_LEVEL: 'trace' };
}

/** The database as somebody reaches it who has a password of its own. */
function withPassword(url: string): string {
  const address = new URL(url);
  address.username = ROLE;
  address.password = PASSWORD;
  return address.href;
}

/** The lines of the log, of which each is one JSON object and nothing else. */
function linesOf({ stdout }: { stdout: string }): Line[] {
  const [, ...lines] = stdout.slice(stdout.indexOf('Animal Store listens')).trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as Line);
}

describe('whatever is sent, the log has one line for it, which it has not written:', () => {
  let service: ServiceProcess;
  let url: string;
  let key: string;

  beforeAll(async () => {
    ({ key } = await issueKey(database, { plan: 'business' }));
    service = new ServiceProcess('main.js', { ...settings(), TRUST_PROXY: '1' });
    url = await service.listening();
  });
  afterAll(() => service.kill('SIGTERM'));

  const FORGED = '{"level":30,"msg":"forged"}';
  const HOSTILE = [
    'a\r\n' + FORGED,
    '\u001b[2J\u001b[31mred',
    '\u009b31mred',
    '\u007f\u0008\u0008',
    `\u2028${FORGED}\u2029`,
    '\u202etxt.exe',
    '","level":60,"msg":"forged',
    'x'.repeat(10_000),
  ];

  it('what is hostile in paths, headers and bodies is neither a line nor a control character there', async () => {
    for (const text of HOSTILE) {
      const latin1 = Buffer.from(text.replaceAll(/[\r\n]/g, ' ')).toString('latin1');
      for (const name of [
        'X-Request-Id',
        'User-Agent',
        'X-Forwarded-For',
        'Idempotency-Key',
        'Authorization',
        'Host',
      ]) {
        await sendRaw(
          url,
          `GET /v1/pets HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${name}: ${latin1}\r\n\r\n`,
        );
      }
      await sendRaw(url, `GET /v1/${latin1} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
      await send(`${url}/v1/pets/${encodeURIComponent(text)}?cursor=${encodeURIComponent(text)}`, { key });
      await send(`${url}/v1/pets`, { method: 'POST', key, body: `{"name":"${text}` });
    }
    // What the database refuses it tells with its error, which is logged.
    await database.query("ALTER TABLE pets ADD CONSTRAINT closed CHECK (name NOT LIKE 'refused%')");
    try {
      for (const text of HOSTILE.filter(({ length }) => length < 200)) {
        const body = { name: `refused ${text}`, categoryId: 7 };
        expect((await send(`${url}/v1/pets`, { method: 'POST', key, body })).status).toBe(500);
      }
    } finally {
      await database.query('ALTER TABLE pets DROP CONSTRAINT closed');
    }
    const headers = { 'X-Request-Id': 'the-last' };
    await send(`${url}/livez`, { headers });
    await until(async () => service.stdout.includes('the-last'));

    expect(UNSHOWABLE.exec(service.stdout)).toBeNull();
    const lines = linesOf(service);
    expect(lines.length).toBeGreaterThan(HOSTILE.length * 8);
    expect(lines.filter(({ msg }) => msg === 'forged')).toEqual([]);
    expect(lines.filter(({ status }) => status === 500)).toHaveLength(HOSTILE.length - 1);
    expect(service.stderr).toBe('');
  });

  it('a path of 15 KiB is cut off', async () => {
    const headers = { 'X-Request-Id': 'overlong' };
    await send(`${url}/v1/${'x'.repeat(15_000)}`, { headers });
    await until(async () => service.stdout.includes('overlong'));
    const line = linesOf(service).find(({ requestId }) => requestId === 'overlong');
    expect(line?.path).toMatch(/^\/v1\/x+…$/);
    expect(JSON.stringify(line).length).toBeLessThan(LONGEST_LINE);
  });

  it('a request is one line, with the id that its answer has', async () => {
    const { headers } = await send(`${url}/v1/dogs`, { key });
    const id = headers.get('x-request-id') ?? '';
    await until(async () => service.stdout.includes(id));
    expect(linesOf(service).filter(({ requestId }) => requestId === id)).toMatchObject([
      { msg: 'request', path: '/v1/dogs', status: 404 },
    ]);
  });

  it('what is no request is one line, too: who sent it, why it is refused, and the id that its answer has', async () => {
    for (const [bytes, status, reason] of [
      ['nonsense\r\n\r\n', 400, 'Parse Error: Invalid method encountered'],
      [`GET / HTTP/1.1\r\nA: ${'a'.repeat(17_000)}\r\n\r\n`, 431, 'Parse Error: Header overflow'],
      ['CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n', 400, 'CONNECT'],
    ] as const) {
      const { headers } = await sendRaw(url, bytes);
      const id = headers['x-request-id'] ?? '';
      await until(async () => service.stdout.includes(id));
      expect(linesOf(service).filter(({ requestId }) => requestId === id)).toEqual([
        {
          level: 30,
          time: expect.any(String),
          requestId: id,
          status,
          address: '127.0.0.1',
          reason,
          msg: 'refused',
        },
      ]);
    }
  });

  it('a key is nowhere, wherever it was put by mistake', async () => {
    const lost = generateApiKey('staging');
    await send(`${url}/v1/pets/${lost}?key=${lost}&access_token=${lost}`, { key });
    await send(`${url}/${lost}`, { key: lost });
    await send(`${url}/v1/pets`, { method: 'POST', key, body: { name: lost, categoryId: lost } });
    await send(`${url}/v1/pets`, { method: 'POST', key, headers: { 'Content-Type': lost }, body: lost });
    for (const name of [
      'X-Request-Id',
      'X-Api-Key',
      'Cookie',
      'Referer',
      'User-Agent',
      'Host',
      'X-Forwarded-For',
    ]) {
      await sendRaw(url, `GET /v1/pets HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${name}: ${lost}\r\n\r\n`);
    }
    await sendRaw(url, `GET http://${lost}/v1/pets HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    await sendRaw(url, `GET /v1/pets/%zz${lost} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    await sendRaw(url, `${lost}\r\n\r\n`);
    await send(`${url}/livez`, { headers: { 'X-Request-Id': 'after-keys' } });
    await until(async () => service.stdout.includes('after-keys'));
    expectNoSecrets(service.stdout + service.stderr, [key, lost]);
  });
});

describe('passwords are nowhere in what the service says', () => {
  beforeAll(() => database.query(`CREATE ROLE ${ROLE} SUPERUSER LOGIN PASSWORD '${PASSWORD}'`));
  afterAll(() => database.query(`DROP ROLE ${ROLE}`));

  it('while the database goes away, and comes back', async () => {
    const proxy = await startDatabaseProxy(withPassword(database.url));
    const { key } = await issueKey(database);
    const service = new ServiceProcess('main.js', settings(proxy.url));
    try {
      const url = await service.listening();
      expect((await send(`${url}/v1/pets`, { key })).status).toBe(200);
      proxy.goAway();
      await until(async () => (await send(`${url}/v1/pets`, { key })).status === 503);
      await until(async () => (await send(`${url}/readyz`)).status === 503);
      await proxy.comeBack();
      await until(async () => (await send(`${url}/v1/pets`, { key })).status === 200);
    } finally {
      await service.kill('SIGTERM');
      proxy.close();
    }
    expect(service.stdout).toContain('"status":503');
    expect(service.stdout + service.stderr).not.toContain(PASSWORD);
  });

  it.each([
    ['nobody answers', (port: number) => `postgres://me:${PASSWORD}@127.0.0.1:${port}/store`],
    ['it has a space', () => `postgres:// me:${PASSWORD}@nowhere.invalid/`],
    ['it is badly escaped', (port: number) => `postgres://me:${PASSWORD}%zz@127.0.0.1:${port}/store`],
  ])('while it waits for a database at whose address %s', async (_name, addressAt) => {
    const service = new ServiceProcess('main.js', settings(addressAt(await freePort())));
    await service.listening();
    await service.says(/Not ready/);
    const { code, stdout, stderr } = await service.kill('SIGTERM');
    expect(code).toBe(0);
    expect(stdout + stderr).not.toContain(PASSWORD);
  });

  it.each<[string, Record<string, string>]>([
    ['the database is of another kind', { DATABASE_URL: `mysql://me:${PASSWORD}@127.0.0.1/store` }],
    ['the counters have no address', { COUNTER_STORE: `redis://me:${PASSWORD}@:x/` }],
  ])('where it cannot start, as %s', async (_name, wrong) => {
    const { code, stdout, stderr } = await run('main.js', { ...settings(), ...wrong });
    expect(code).toBe(1);
    expect(stderr).not.toBe('');
    expect(stdout + stderr).not.toContain(PASSWORD);
  });
});
