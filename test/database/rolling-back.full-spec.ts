import path from 'node:path';
import { buildRelease } from '../../dev/release/build.js';
import { lastRelease } from '../../dev/release/record.js';
import { createDatabase, type TestDatabase } from '../support/database/database.js';
import { eventually } from '../support/eventually.js';
import { type HttpResponse, type Init, listedIds, send } from '../support/http/http.js';
import { requestsBeforeBan } from '../support/keys/bans.js';
import { useReceiver } from '../support/programs/receiver.js';
import { run, ServiceProcess } from '../support/service/service-process.js';

const BUILD_MS = 1_200_000;
const PER_MINUTE = 5;
const PER_DAY = 100;
const ONCE = { 'Idempotency-Key': 'once' };
const REX = { name: 'Rex', categoryId: 7 };
/** What each request with a key changes. */
const CHANGING = new Set(['lastUsedAt', 'recentUsage']);

const release = lastRelease();

/** Returns a body without what each request changes. */
const stable = ({ text }: HttpResponse): unknown =>
  JSON.parse(text, (name, value) => (CHANGING.has(name) ? undefined : value));

describe(`release ${release.version}, after this tree has migrated its database and served,`, () => {
  const receiver = useReceiver();
  let database: TestDatabase;
  let former: string;
  let service: ServiceProcess | undefined;
  let url: string;
  let admin: string;
  /** The keys that this tree has issued, by their names. */
  const keys: Record<string, { id: string; quotaId: string; key: string }> = {};
  /** What this tree responded last, by path. */
  const responses: Record<string, HttpResponse> = {};
  let created: HttpResponse;

  const settings = () => ({
    NODE_ENV: 'production',
    APP_ENV: 'staging',
    HOST: '127.0.0.1',
    SHUTDOWN_DELAY: '0',
    LOG_LEVEL: 'warn',
    BAN_DURATIONS: '1h',
    WEBHOOK_ALLOW_PRIVATE_ADDRESSES: 'true',
    DATABASE_URL: database.url,
  });

  /** Ends the service that runs, and starts that of a folder `dist`; of this tree without one. */
  async function start(dist = ''): Promise<void> {
    await service?.kill('SIGTERM');
    service = new ServiceProcess(path.join(dist, 'main.js'), settings());
    url = await service.ready();
  }

  async function command(name: string, dist = ''): Promise<string> {
    const ended = await run(path.join(dist, 'cli/admin.js'), settings(), name);
    expect(ended).toMatchObject({ code: 0 });
    return ended.stdout;
  }

  const call = (target: string, init: Init = {}) => send(url + target, { key: admin, ...init });
  /** Sends a change that must succeed. */
  async function write(target: string, body?: object, init: Init = {}): Promise<HttpResponse> {
    const response = await call(target, { method: 'POST', body, ...init });
    if (response.status >= 300) {
      throw new Error(`${target} responded ${response.status}: ${response.text}`);
    }
    return response;
  }

  async function issue(name: string, input: object): Promise<void> {
    const { json } = await write('/admin/keys', { name, plan: 'enterprise', ...input });
    keys[name] = json;
  }

  /** Sends a request that counts, as the holder of a key. */
  const list = (name: string) => call('/v1/pets', { key: keys[name]?.key });

  /** Writes something of every kind, and reads it. */
  async function serve(): Promise<void> {
    await write('/admin/webhooks', { url: receiver.url, events: ['key.revoked'] });
    const paused = await write('/admin/webhooks', {
      url: `${receiver.url}/paused`,
      events: ['key.revoked'],
    });
    await write(`/admin/webhooks/${paused.json.id}`, { paused: true }, { method: 'PATCH' });
    const wide = { perMinute: 100_000, perDay: 1_000_000 };
    await issue('holder', { ...wide, scopes: ['pets:read', 'pets:write', 'orders:write', 'keys:write'] });
    await issue('counted', { perMinute: PER_MINUTE, perDay: PER_DAY });
    await issue('banned', { perMinute: PER_MINUTE, perDay: PER_DAY });
    await issue('revoked', wide);
    const key = keys['holder']?.key;
    created = await write('/v1/pets', REX, { key, headers: ONCE });
    await write('/v1/store/orders', { petId: created.json.id, quantity: 2 }, { key });
    await write('/v1/keys', { name: 'further' }, { key });
    await write(`/admin/keys/${keys['revoked']?.id}/revoke`);
    await list('counted');
    for (let request = 1; request <= requestsBeforeBan(PER_MINUTE) + PER_MINUTE; request += 1) {
      await list('banned'); // More than that, in case a minute ends meanwhile.
    }
    await eventually(async () => expect(receiver.received).toHaveLength(1));
  }

  beforeAll(async () => {
    const build = await buildRelease(release);
    former = path.join(build.folder, 'dist');
    database = await createDatabase('template0');
    await command('migrate', former);
    [admin = ''] = /ask_\w+/.exec(await command('seed', former)) ?? [];
    await command('migrate');
    await start();
    await serve();
    const webhooks = listedIds(await call('/admin/webhooks'));
    const paths = [
      '/v1/pets',
      '/admin/keys?limit=100',
      '/admin/audit?limit=100',
      '/admin/plans',
      '/admin/webhooks',
      ...webhooks.map((id: string) => `/admin/webhooks/${id}/deliveries`),
      ...Object.values(keys).map(({ id }) => `/admin/keys/${id}`),
    ];
    for (const target of paths) {
      responses[target] = await call(target);
    }
    await start(former);
  }, BUILD_MS);
  afterAll(async () => {
    await service?.kill('SIGTERM');
    await database.drop();
  });

  it('shows animals, keys, the audit log, plans, webhooks and deliveries as this tree did', async () => {
    for (const [target, before] of Object.entries(responses)) {
      const now = await call(target);
      expect([target, before.status, now.status]).toEqual([target, 200, 200]);
      // This tree may have added fields.
      expect(stable(before)).toMatchObject(stable(now) as object);
    }
  });

  it('replays the stored response to a creation', async () => {
    const replayed = await write('/v1/pets', REX, { key: keys['holder']?.key, headers: ONCE });
    expect([replayed.status, replayed.text]).toEqual([201, created.text]);
    expect(replayed.headers.get('idempotent-replayed')).toBe('true');
  });

  it('goes on with the counts of the day', async () => {
    const { status, headers } = await list('counted');
    expect([status, headers.get('ratelimit')]).toEqual([
      200,
      expect.stringContaining(`"day";r=${PER_DAY - 2};`),
    ]);
  });

  it('denies a key that this tree banned, and one that it revoked', async () => {
    expect(await list('banned')).toMatchObject({ status: 429, json: { code: 'api_key_banned' } });
    expect(await list('revoked')).toMatchObject({ status: 401 });
  });

  it('delivers to the webhook that is not paused', async () => {
    await write(`/admin/keys/${keys['banned']?.id}/revoke`);
    await eventually(async () => expect(receiver.received.map((each) => each.path)).toEqual(['/hook']));
  });

  it('logs no error', () => {
    expect(service?.stdout).not.toMatch(/"level":"(error|fatal)"/);
    expect(service?.stderr).toBe('');
  });

  it('leaves what it writes to this tree, which serves again', async () => {
    const key = keys['holder']?.key;
    const { json: animal } = await write('/v1/pets', { name: 'Felix', categoryId: 8 }, { key });
    await start();
    expect((await call(`/v1/pets/${animal.id}`, { key })).json).toEqual(animal);
    expect(await list('revoked')).toMatchObject({ status: 401 });
  });
});
