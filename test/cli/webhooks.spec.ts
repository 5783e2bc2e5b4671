import { eventually } from '../support/eventually.js';
import { issueKey } from '../support/keys/keys.js';
import { createDatabase, type TestDatabase } from '../support/database/database.js';
import { expectNoSecrets } from '../support/service/secrets.js';
import { animalStore } from '../support/service/terminal.js';

/** Enough for a command to start on a machine with other work. */
const COMMAND_MS = 20_000;
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
  it('creates, lists, shows and deletes a webhook, and prints each of its secrets once', async () => {
    const { secret, ...webhook } = await json(...CREATE, '--as', 'ann');
    expect(secret).toMatch(/^whsec_/);
    expect(webhook).toMatchObject({ events: ['key.revoked', 'quota.banned'] });
    expect(await json('list')).toEqual([webhook]);
    expect(await json('show', webhook.id)).toEqual(webhook);
    const rotated = await json('rotate-secret', webhook.id);
    expect(Math.round((Date.parse(rotated.previousSecretExpiresAt) - Date.now()) / 3_600_000)).toBe(24);
    const table = (await webhooks('list')).stdout;
    expect(table).toMatch(/^ID +URL +EVENTS +/);
    expect(table).not.toContain('whsec_');
    expectNoSecrets(table, [secret, rotated.secret]);
    await json('delete', webhook.id, '--yes');
    expect((await webhooks('list')).stdout).toBe('None.\n');
    const audit = await database.query('SELECT actor, action FROM audit_events ORDER BY id LIMIT 1');
    expect(audit).toEqual([{ actor: 'terminal:ann', action: 'webhook.created' }]);
  });

  it('prints the secret of a new webhook with the fields, and that it is not shown again', async () => {
    const { stdout } = await webhooks(...CREATE);
    expect(stdout).toMatch(/^secret +whsec_\S+$/m);
    expect(stdout).toMatch(/^The secret is not shown again\.$/m);
  });

  it('lists deliveries, and queues a failed one again', async () => {
    const { id } = await json(...CREATE);
    const [row] = await database.query<{ delivery: string }>(
      `INSERT INTO webhook_deliveries (
         id, webhook_id, event_id, event_type, dedupe_key, payload, state, next_attempt_at
       )
       VALUES (gen_random_uuid(), $1, gen_random_uuid(), 'key.revoked', 'a', '{}', 'failed', NULL)
       RETURNING id AS delivery`,
      [id],
    );
    const delivery = row?.delivery ?? '';
    expect(await json('deliveries', id, '--state', 'pending')).toStrictEqual([]);
    expect(await json('deliveries', id, '--state', 'failed')).toMatchObject([{ id: delivery, attempts: 0 }]);
    expect(await json('resend', id, delivery, '--as', 'ann')).toMatchObject({
      id: delivery,
      state: 'pending',
    });
    const [event] = await database.query('SELECT actor, action FROM audit_events ORDER BY id DESC LIMIT 1');
    expect(event).toEqual({ actor: 'terminal:ann', action: 'webhook.delivery_resent' });
    expect((await webhooks('deliveries', id)).stdout).toContain('key.revoked');
  });

  it('changes, pauses and resumes a webhook', async () => {
    const { secret: _secret, ...webhook } = await json(...CREATE);
    const changed = { ...webhook, url: 'https://new.example/', events: ['*'] };
    const update = (...args: string[]) => json('update', webhook.id, ...args);
    expect(await update('--url', changed.url, '--events', '*', '--as', 'ann')).toEqual(changed);
    const [event] = await database.query('SELECT actor, action FROM audit_events ORDER BY id DESC LIMIT 1');
    expect(event).toEqual({ actor: 'terminal:ann', action: 'webhook.updated' });
    const pause = { paused: true, pausedAt: expect.any(String), pauseReason: 'administrator' };
    expect(await update('--pause')).toEqual({ ...changed, ...pause });
    expect(await update('--resume')).toEqual(changed);
  });

  it('sends a test event, waits for its result, and lists it with the deliveries', async () => {
    const { id } = await json(...CREATE);
    const testing = webhooks('test', id, '--as', 'ann', '--json');
    const failure = { state: 'failed', last_failure: 'The response was 400' };
    // As a replica of the service does.
    await eventually(async () => {
      const rows = await database.query(
        `UPDATE webhook_deliveries SET state = $1, last_failure = $2, next_attempt_at = NULL
         WHERE webhook_id = $3 RETURNING 1`,
        [...Object.values(failure), id],
      );
      expect(rows).toHaveLength(1);
    }, COMMAND_MS);
    const ended = await testing;
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    const sent = JSON.parse(ended.stdout) as Record<string, unknown>;
    const lastFailure = failure.last_failure;
    expect(sent).toMatchObject({ eventType: 'webhook.test', state: 'failed', lastFailure });
    const shown = await json('show', id);
    expect(shown.lastDelivery).toBeNull();
    const [event] = await database.query('SELECT actor, action FROM audit_events ORDER BY id DESC LIMIT 1');
    expect(event).toEqual({ actor: 'terminal:ann', action: 'webhook.tested' });
    const response = { responseStatus: 400, responseBody: '\u001B[2Jno' };
    await database.query(
      'UPDATE webhook_deliveries SET response_status = $1, response_body = $2 WHERE webhook_id = $3',
      [...Object.values(response), id],
    );
    expect(await json('deliveries', id)).toEqual([{ ...sent, ...response }]);
    const table = (await webhooks('deliveries', id)).stdout;
    expect(table).toMatch(/ RESPONSE STATUS/);
    expect(table).not.toContain('2Jno');
  });

  it('creates a webhook for a quota, of whose id the ending is enough, and lists those of it', async () => {
    const { quotaId } = await issueKey(database);
    const { secret: _secret, ...webhook } = await json(...CREATE, '--quota', quotaId.slice(-12));
    expect(webhook.quotaId).toBe(quotaId);
    expect(await json('list', '--quota', quotaId)).toEqual([webhook]);
  });

  it('shows the last result of a webhook in its list, in words', async () => {
    const { id } = await json(...CREATE);
    await database.query(
      `INSERT INTO webhook_deliveries (
         id, webhook_id, event_id, event_type, dedupe_key, payload, attempts, last_attempt_at, last_failure
       )
       VALUES (gen_random_uuid(), $1, gen_random_uuid(), 'key.revoked', 'z', '{}', 1, now(), 'No response')`,
      [id],
    );
    const { stdout } = await webhooks('show', id);
    expect(stdout).toMatch(/^last delivery +No response$/m);
    expect(stdout).toMatch(/^next attempt at +\d{4}-/m);
  });

  it.each([
    [
      'create --url https://ops.example/ --events * --quota x',
      1,
      'There is no quota with the id, external id or key "x"',
    ],
    ['create --url ftp://ops.example/ --events key.revoked', 2, 'must be an http(s) address'],
    ['create --url https://ops.example/ --events key.stolen', 2, 'must be a list of one or more of'],
    ['create --url https://ops.example/', 2, '--events <types>'],
    ['create --url http://10.0.0.1/ --events key.revoked', 1, '--url: 10.0.0.1 is a private address'],
    ['update x', 2, 'give --url, --events, --pause or --resume'],
    ['update x --pause --resume', 2, 'cannot be used with'],
    ['update x --url http://localhost/', 1, '--url: localhost is a private address'],
    ['rotate-secret x', 1, 'There is no webhook with the id "x"'],
    ['test x', 1, 'There is no webhook with the id "x"'],
    ['resend x y', 1, 'There is no webhook with the id "x"'],
  ])('fails and says why: %s', async (command, code, reason) => {
    const ended = await webhooks(...command.split(' '));
    expect(ended).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(reason) });
  });
});
