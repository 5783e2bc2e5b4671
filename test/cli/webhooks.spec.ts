import { createDatabase, type TestDatabase } from '../support/database/database.js';
import { expectNoSecrets } from '../support/service/secrets.js';
import { animalStore } from '../support/service/terminal.js';

const CREATE = ['create', '--url', 'https://ops.example/hook', '--events', 'key.revoked,quota.banned'];

let database: TestDatabase;

beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

/** Runs `animal-store webhooks`. */
const webhooks = (...args: string[]) =>
  animalStore({ DATABASE_URL: database.url, APP_ENV: 'production' }, 'webhooks', ...args);

// oxlint-disable-next-line typescript/no-explicit-any
async function json(...args: string[]): Promise<any> {
  const { code, stdout, stderr } = await webhooks(...args, '--json');
  expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' });
  return JSON.parse(stdout);
}

describe('animal-store webhooks', () => {
  it('creates, lists, changes, rotates and deletes a webhook, and shows its secrets only then', async () => {
    const { secret, ...webhook } = await json(...CREATE, '--as', 'ann');
    expect(secret).toMatch(/^whsec_/);
    expect(webhook).toMatchObject({ events: ['key.revoked', 'quota.banned'], enabled: true });
    expect(await json('list')).toEqual([webhook]);
    expect(await json('show', webhook.id)).toEqual(webhook);
    const changed = await json('change', webhook.id, '--events', 'key.rotated', '--disable');
    expect(changed).toMatchObject({ url: webhook.url, events: ['key.rotated'], enabled: false });
    expect(await json('change', webhook.id, '--enable')).toMatchObject({ enabled: true });
    const rotated = await json('rotate', webhook.id, '--overlap', '1h');
    expect(Math.round((Date.parse(rotated.previousSecretEndsAt) - Date.now()) / 60_000)).toBe(60);
    const table = (await webhooks('list')).stdout;
    expect(table).toMatch(/^ID +URL +EVENTS +DISABLED SINCE\n/);
    expect(table).not.toContain('whsec_');
    expectNoSecrets(table, [secret, rotated.secret]);
    await json('delete', webhook.id, '--yes');
    expect((await webhooks('list')).stdout).toBe('None.\n');
    const audit = await database.query('SELECT actor, action FROM audit_events ORDER BY id LIMIT 1');
    expect(audit).toEqual([{ actor: 'terminal:ann', action: 'webhook.created' }]);
  });

  it('prints the secret of a new webhook with the fields, and that it is not shown again', async () => {
    const { stdout } = await webhooks(...CREATE);
    expect(stdout).toMatch(/^secret +whsec_\S+\n/);
    expect(stdout).toMatch(/^The secret is not shown again\.$/m);
  });

  it('queues a test event, lists it, and queues it again', async () => {
    const { id } = await json(...CREATE);
    const sent = await json('test', id);
    expect(sent).toMatchObject({ event: 'webhook.test', state: 'pending', attempts: 0 });
    expect(await json('deliveries', id, '--state', 'pending')).toEqual([sent]);
    expect(await json('deliveries', id, '--state', 'failed')).toEqual([]);
    expect(await json('retry', id, sent.id)).toMatchObject({ id: sent.id, state: 'pending' });
    expect((await webhooks('deliveries', id)).stdout).toContain('webhook.test');
  });

  it.each([
    ['create --url ftp://ops.example/ --events key.revoked', 2, 'must be an http(s) address'],
    ['create --url https://ops.example/ --events key.stolen', 2, 'must be a list of one or more of'],
    ['create --url https://ops.example/', 2, '--events <types>'],
    ['create --url https://127.0.0.1/ --events key.revoked', 1, 'must have a public address'],
    ['create --url http://ops.example/ --events key.revoked', 1, 'must begin with https:// in production'],
    ['change 019d3c5e-7a10-7c1e-9a52-0d3c0f8f6a11', 2, 'give --url, --events, --enable or --disable'],
    ['change x --enable --disable', 2, 'cannot be used with option'],
    ['show x', 1, 'There is no webhook with the id "x"'],
  ])('fails and says why: %s', async (command, code, reason) => {
    const ended = await webhooks(...command.split(' '));
    expect(ended).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(reason) });
  });
});
