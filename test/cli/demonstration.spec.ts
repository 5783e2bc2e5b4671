import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { SERVICE } from '../../src/audit/audit.js';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Logger } from '@nestjs/common';
import { generateApiKey } from '../../src/auth/rules/api-key.js';
import { BUILT_IN_PLAN_NAMES } from '../../src/auth/rules/built-in-plans.js';
import { type DemoKeys, seedDemo } from '../../src/start/demo.js';
import { PrismaService } from '../../src/database/access/prisma.service.js';
import { KeyService } from '../../src/keys/key.service.js';
import { InvalidEnvironmentError } from '../../src/process/settings/environment.js';
import { send } from '../support/http/http.js';
import { useApplication } from '../support/service/application.js';

const NAMES = [...BUILT_IN_PLAN_NAMES, 'admin', 'team'];
/** Those of a folder that commit d974abe made. */
const EARLIER_NAMES = ['free', 'pro', 'business', 'enterprise', 'admin'];

const store = useApplication();
let folder: string;
let file: string;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'demonstration-'));
  file = path.join(folder, 'demo-keys.json');
});
afterEach(async () => {
  jest.restoreAllMocks();
  await rm(folder, { recursive: true });
  await store.database.query('DELETE FROM api_keys');
});

const seed = (APP_ENV: 'staging' | 'production' = 'staging') =>
  seedDemo(store.app.get(PrismaService), store.app.get(KeyService), { APP_ENV, DATA_DIR: folder });
const stored = async () => JSON.parse(await readFile(file, 'utf8'));
const write = (entries: object) => writeFile(file, JSON.stringify(entries));
const generate = (names: string[]) =>
  Object.fromEntries(names.map((name) => [name, generateApiKey('staging')])) as DemoKeys;
const statusOf = async (key: string, target = '/v1/pets') =>
  (await send(`${store.url}${target}`, { key })).status;

describe('the keys of the demonstration', () => {
  it('are generated, issued, and stored for their owner alone', async () => {
    const keys = await seed();
    expect(Object.keys(keys)).toEqual(NAMES);
    expect(await stored()).toEqual(keys);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    for (const key of Object.values(keys)) {
      expect(await statusOf(key)).toBe(200);
    }
    expect(await seed()).toEqual(keys);
  });

  it('of an earlier version stay, and get those that it did not have', async () => {
    const earlier = generate(EARLIER_NAMES);
    await write(earlier);
    const keys = await seed();
    expect(keys).toMatchObject(earlier);
    expect(Object.keys(keys)).toEqual(NAMES);
    expect(await stored()).toEqual(keys);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    for (const key of Object.values(keys)) {
      expect(key).toMatch(/^ask_test_/);
      expect(await statusOf(key)).toBe(200);
    }
  });

  it('stay beside entries that this version does not know', async () => {
    const others = { partner: generateApiKey('staging'), format: 2, nested: { of: ['a', 'later', 'one'] } };
    const given = { ...others, ...generate(EARLIER_NAMES) };
    await write(given);
    const keys = await seed();
    expect(Object.keys(keys).toSorted()).toEqual(NAMES.toSorted());
    expect(await stored()).toEqual({ ...keys, ...given });
  });

  it('are replaced alone if malformed or of another environment, and kept', async () => {
    const earlier = generate(NAMES);
    const production = generateApiKey('production');
    const given = { ...earlier, pro: production, free: 'ask_test_short', admin: null };
    await write(given);
    const keys = await seed();
    const { free, pro, admin, ...others } = earlier;
    expect(keys).toMatchObject(others);
    expect([keys.free, keys.pro, keys.admin]).not.toEqual(expect.arrayContaining([free, pro, admin]));
    expect(await stored()).toEqual({
      ...keys,
      'free replaced 1': 'ask_test_short',
      'pro replaced 1': production,
      'admin replaced 1': null,
    });
    expect(await seed()).toEqual(keys);
  });

  it('are the same again after a start in another environment', async () => {
    const keys = await seed();
    const ofProduction = await seed('production');
    expect(Object.values(ofProduction).every((key) => key.startsWith('ask_live_'))).toBe(true);
    expect(await seed()).toEqual(keys);
    expect(await seed('production')).toEqual(ofProduction);
  });

  it.each([
    ['no JSON', '{"free": "ask_te'],
    ['empty', ''],
    ['a list', '["ask_test_x"]'],
    ['null', 'null'],
  ])('are generated if the file is %s, which is renamed and logged', async (_name, text) => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation();
    await writeFile(file, text);
    const keys = await seed();
    expect(await stored()).toEqual(keys);
    const files = await readdir(folder);
    const kept = files.find((name) => name.startsWith('demo-keys.json.unreadable-')) ?? '';
    expect(await readFile(path.join(folder, kept), 'utf8')).toBe(text);
    expect(warn.mock.calls).toEqual([
      [`${file} is not a JSON object: it was renamed to ${folder}/${kept}, and new keys were issued`],
    ]);
  });

  it('are not replaced if the file cannot be read', async () => {
    await rm(folder, { recursive: true });
    await writeFile(folder, '');
    await expect(seed()).rejects.toMatchObject({
      constructor: InvalidEnvironmentError,
      message: expect.stringMatching(/demo-keys\.json cannot be read: ENOTDIR.*Make it readable, or move it/),
    });
  });

  it('may issue further keys by that of Business, even if an earlier version issued it', async () => {
    const earlier = generate(EARLIER_NAMES);
    await write(earlier);
    const { id } = await store.app
      .get(KeyService)
      .issue({ name: 'demo business', plan: 'business' }, SERVICE, earlier.business);
    expect(await statusOf(earlier.business, '/v1/keys')).toBe(403);
    await seed();
    expect(await statusOf(earlier.business, '/v1/keys')).toBe(200);
    const events = await store.database.query('SELECT t::text AS event FROM audit_events t');
    expect(events.filter(({ event }) => event.includes(id))).toHaveLength(2);
    expect(await seed()).toMatchObject(earlier);
  });

  it('keep the scopes that an administrator has given them', async () => {
    const { business } = await seed();
    await store.database.query("UPDATE api_keys SET scopes = '{pets:read}' WHERE name = 'demo business'");
    await seed();
    expect(await statusOf(business)).toBe(200);
    expect(await statusOf(business, '/v1/keys')).toBe(403);
  });
});
