import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Webhook as Verifier } from 'standardwebhooks';
import { generateApiKey } from '../../src/auth/rules/api-key.js';
import { SCOPES } from '../../src/auth/rules/scope.js';
import { applyPendingMigrations } from '../../src/database/migrations/migrations.js';
import { readEnvironment } from '../../src/process/settings/environment.js';
import { UsageJournal } from '../../src/usage/usage.journal.js';
import { WebhookDeliverer } from '../../src/webhooks/webhook-deliverer.js';
import { readRows, readSchema, type Row, sortRows } from '../support/database/catalog.js';
import { createDatabase, type TestDatabase } from '../support/database/database.js';
import { createEarlierDatabase, EARLIER_COMMITS, readFacts } from '../support/database/earlier-databases.js';
import { OWN_MIGRATIONS } from '../support/database/own-migrations.js';
import { openPrisma } from '../support/database/queries.js';
import { eventually } from '../support/eventually.js';
import { ApiDocument, REQUIRED_QUERY } from '../support/http/document.js';
import { type HttpResponse, type Init, listedIds, send } from '../support/http/http.js';
import { denialsBeforeBan } from '../support/keys/bans.js';
import { useReceiver } from '../support/programs/receiver.js';
import { startApplication, type TestApplication } from '../support/service/application.js';
import { HOUR_MS, TestClock } from '../support/time/clock.js';
import { CONVERSIONS } from './earlier-databases/conversions.js';

/** The columns of `usage` that count responses. */
const CLASSES = ['succeeded', 'redirected', 'client_errors', 'server_errors'];

const api = new ApiDocument();
const receiver = useReceiver();

describe.each(EARLIER_COMMITS)('a database of commit %s', (commit) => {
  const { dumpedAt, keys, cursors, storedResponses, webhooks } = readFacts(commit);
  const isOf = (name: string) => keys[name] !== undefined;
  let database: TestDatabase;
  let earlier: Record<string, Row[]>;

  beforeAll(async () => {
    database = await createEarlierDatabase(commit);
    earlier = await readRows(database);
  });
  afterAll(() => database.drop());

  describe('after applyPendingMigrations', () => {
    let applied: string[];
    beforeAll(async () => {
      applied = await applyPendingMigrations(database.url);
    });

    it('has every migration, with the checksum of its file', async () => {
      expect(applied).toEqual(OWN_MIGRATIONS.slice(1));
      const recorded = await database.query(
        'SELECT migration_name AS name, checksum FROM _prisma_migrations ORDER BY started_at',
      );
      const files = OWN_MIGRATIONS.map((name) => {
        const file = readFileSync(`prisma/migrations/${name}/migration.sql`);
        return { name, checksum: createHash('sha256').update(file).digest('hex') };
      });
      expect(recorded).toEqual(files);
    });

    it('has the schema of a new database', async () => {
      const fresh = await createDatabase();
      expect(await readSchema(database)).toEqual(await readSchema(fresh));
      await fresh.drop();
    });

    it('has every row, with its values', async () => {
      const rows = await readRows(database);
      expect(Object.keys(rows)).toEqual(expect.arrayContaining(Object.keys(earlier)));
      for (const [table, earlierRows] of Object.entries(earlier)) {
        expect([table, earlierRows.length > 0]).toEqual([table, true]);
        const converted = CONVERSIONS[table]?.(earlierRows, earlier) ?? earlierRows;
        expect([table, rows[table]]).toEqual([table, sortRows(converted)]);
      }
    });

    it('has the usage that was only journaled, once that is aggregated', async () => {
      type Entry = Record<'keyId', string> & Record<string, number>;
      const requestsOf = (key: string | null | undefined, rows: Row[] = []) =>
        rows
          .filter((row) => row['key_id'] === key && row['period'] === 'day')
          .flatMap((row) => CLASSES.map((column) => Number(row[column])))
          .reduce((sum, count) => sum + count, 0);
      const entries = (earlier['usage_batches'] ?? []).flatMap(
        (row) => JSON.parse(row['entries'] ?? '') as Entry[],
      );
      const prisma = openPrisma(readEnvironment({ DATABASE_URL: database.url, APP_ENV: 'staging' }));
      await new UsageJournal(prisma).aggregate();
      await prisma.onApplicationShutdown();
      const { usage } = await readRows(database);
      const keysOfEntries = new Set(entries.map(({ keyId }) => keyId));
      expect(keysOfEntries.size).toBeGreaterThan(1);
      for (const keyId of keysOfEntries) {
        const journaled = entries
          .filter((entry) => entry.keyId === keyId)
          .flatMap(({ succeeded = 0, redirected = 0, clientErrors = 0, serverErrors = 0 }) => [
            succeeded + redirected + clientErrors + serverErrors,
          ])
          .reduce((sum, count) => sum + count, 0);
        expect(journaled).toBeGreaterThan(0);
        expect(requestsOf(keyId, usage)).toBe(requestsOf(keyId, earlier['usage']) + journaled);
      }
    });
  });

  describe('served after its migration', () => {
    const clock = new TestClock();
    let store: TestApplication;

    beforeAll(async () => {
      clock.travelTo(new Date(dumpedAt));
      store = await startApplication({
        database,
        clock,
        environment: { WEBHOOK_ALLOW_PRIVATE_ADDRESSES: true, BAN_DURATIONS: [1000, 12 * HOUR_MS] },
      });
      // Back into the minute of its counts.
      clock.travelTo(new Date(dumpedAt));
    });
    afterAll(async () => {
      await store.close();
      clock.returnToPresent();
    });

    /** Sends a request by the key of that name. */
    const call = (name: string, path: string, init: Init = {}): Promise<HttpResponse> =>
      send(store.url + path, { key: keys[name], ...init });
    const administer = (path: string) => call('administrator', path);
    const outcome = async (name: string, path = '/v1/pets') => {
      const { status, json } = await call(name, path);
      return [status, json.code];
    };
    const earlierRow = (table: string, column: string, value: string) =>
      earlier[table]?.find((row) => row[column] === value) ?? {};

    it('counts on in the windows of its quotas, and bans by the denials counted so far', async () => {
      const quotaId = earlierRow('api_keys', 'name', 'client')['quota_id'];
      const counter = earlierRow('rate_limit_counters', 'bucket_key', `quota:${quotaId}`);
      const { json } = await call('client', '/v1/rate-limit');
      const remaining = json.windows.map((window: { remaining: number }) => window.remaining);
      const left = (window: string) => Number(counter[`${window}_limit`]) - Number(counter[`${window}_used`]);
      expect(remaining).toEqual([left('minute'), left('day')]);
      // Its limit is three, and it had one denial then.
      for (let denials = 2; denials < denialsBeforeBan(3); denials += 1) {
        expect(await outcome('near its ban')).toEqual([429, 'rate_limit_exceeded']);
      }
      expect(await outcome('near its ban')).toEqual([429, 'api_key_banned']);
    });

    it('enforces the ban in force, and no other', async () => {
      const { status, json } = await call('banned', '/v1/pets');
      expect([status, json.code]).toEqual([429, 'api_key_banned']);
      const quotaId = earlierRow('api_keys', 'name', 'banned')['quota_id'];
      const counter = earlierRow('rate_limit_counters', 'bucket_key', `quota:${quotaId}`);
      const { bannedUntil } = (await call('banned', '/v1/rate-limit')).json;
      expect(new Date(bannedUntil)).toEqual(new Date(counter['banned_until'] ?? ''));
      clock.travel(60_000);
      expect(await outcome('formerly banned')).toEqual([200, undefined]);
      expect(await outcome('unbanned')).toEqual([200, undefined]);
    });

    it('accepts its valid keys, and no other', async () => {
      const valid = [
        'client',
        'scoped',
        'networked',
        'rotating',
        'successor',
        'expiring',
        'of the added plan',
      ];
      const issued = ['issuer', 'issued by its holder', 'sharing'].filter(isOf);
      for (const name of [...valid, 'rotated by its holder', 'successor by its holder', ...issued]) {
        expect([name, ...(await outcome(name))]).toEqual([name, 200, undefined]);
      }
      for (const name of ['expired', 'revoked', 'leaked', ...['issued and revoked'].filter(isOf)]) {
        expect([name, ...(await outcome(name))]).toEqual([name, 401, 'invalid_api_key']);
      }
      expect((await send(`${store.url}/v1/pets`, { key: generateApiKey('staging') })).status).toBe(401);
    });

    it('keeps the scopes of its keys: those of the list, and without one all of the role', async () => {
      const create = { method: 'POST', body: { name: 'Kim', categoryId: 1 } };
      expect((await call('client', '/v1/pets', create)).status).toBe(201);
      expect((await call('scoped', '/v1/pets', create)).json).toMatchObject({ code: 'insufficient_scope' });
      expect((await call('administrator', '/admin/keys')).status).toBe(200);
      expect((await call('auditor', '/admin/keys')).status).toBe(200);
      expect((await call('client', '/admin/keys')).status).toBe(403);
      // No key may issue others unless its list says so.
      expect((await call('client', '/v1/keys')).status).toBe(403);
      const issued = isOf('issuer') ? (await call('issuer', '/v1/keys')).json : [];
      const names = issued.map(({ name }: { name: string }) => name);
      expect(names).toEqual(
        expect.arrayContaining(['issued by its holder', 'issued and revoked'].filter(isOf)),
      );
    });

    it('replays its stored responses to the byte', async () => {
      expect(storedResponses).toHaveLength(2);
      for (const { idempotencyKey, path, body, response, location } of storedResponses) {
        const headers = { 'Idempotency-Key': idempotencyKey };
        const replayed = await call('client', path, { method: 'POST', body, headers });
        expect([replayed.status, replayed.text]).toEqual([201, response]);
        expect(replayed.headers.get('idempotent-replayed')).toBe('true');
        expect(replayed.headers.get('location')).toBe(location);
        const other = await call('client', path, { method: 'POST', body: `${body} `, headers });
        expect([other.status, other.json.code]).toEqual([422, 'idempotency_key_reused']);
      }
    });

    it('continues a list from a cursor of then', async () => {
      expect.assertions(Object.keys(cursors).length);
      for (const [path, ids] of Object.entries(cursors)) {
        const page = await call(path.startsWith('/admin') ? 'administrator' : 'client', path);
        expect([path, page.status, listedIds(page)]).toEqual([path, 200, ids]);
      }
    });

    it('shows all of it as the documents say, to an administrator with every scope', async () => {
      const idOf = (table: string, name: string, column: string) =>
        earlierRow(table, name, column)['id'] ?? '';
      const ownPath = `/admin/keys/${idOf('api_keys', 'name', 'administrator')}`;
      const changed = await call('administrator', ownPath, { method: 'PATCH', body: { scopes: SCOPES } });
      expect(changed.status).toBe(200);
      const ids: Record<string, string> = {
        petId: '1',
        plan: 'free',
        id: idOf('api_keys', 'name', 'client'),
        keyId: idOf('api_keys', 'name', 'client'),
        quotaId: earlierRow('api_keys', 'name', 'client')['quota_id'] ?? '',
        webhookId: webhooks.rotated.id,
      };
      const reading = api.operations.filter(
        ({ method, path }) =>
          method === 'GET' && [...path.matchAll(/\{(\w+)\}/g)].every(([, name = '']) => name in ids),
      );
      for (const operation of reading) {
        const path = operation.path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => ids[name] ?? '');
        const name = isOf('issuer') && path === '/v1/keys' ? 'issuer' : 'administrator';
        const { status, headers, text } = await call(
          name,
          `${path}?${REQUIRED_QUERY[operation.operationId] ?? ''}`,
        );
        const faults = api.findFaults(operation, status, headers, text);
        // A share of requests is a fraction.
        const others = faults.filter((fault) => !/^0\.\d+ is no int64$/.test(fault));
        expect([path, status, others]).toEqual([path, 200, []]);
      }
      expect(reading.length).toBeGreaterThan(20);
    });

    it('lists each of its keys, plans, audit events, webhooks and deliveries', async () => {
      const listed = async (path: string, field: string) =>
        new Set<unknown>(
          (await administer(`${path}?limit=100`)).json.map((entry: Record<string, unknown>) => entry[field]),
        );
      const ofRotated = ({ webhook_id }: Row) => webhook_id === webhooks.rotated.id;
      const lists: [path: string, field: string, rows: Row[] | undefined][] = [
        ['/admin/keys', 'id', earlier['api_keys']],
        ['/admin/plans', 'name', earlier['plans']],
        ['/admin/audit', 'id', earlier['audit_events']],
        ['/admin/webhooks', 'id', earlier['webhooks']],
        [
          `/admin/webhooks/${webhooks.rotated.id}/deliveries`,
          'id',
          earlier['webhook_deliveries']?.filter(ofRotated),
        ],
      ];
      for (const [path, field, rows = []] of lists) {
        expect(rows.length).toBeGreaterThan(1);
        const found = await listed(path, field);
        expect([path, rows.filter((row) => !found.has(row[field]))]).toEqual([path, []]);
      }
    });

    it('sends the deliveries that were pending, signed by the secret of then', async () => {
      const { id, secrets } = webhooks.failing;
      const pending = (earlier['webhook_deliveries'] ?? []).filter(
        (row) => row['webhook_id'] === id && row['state'] === 'pending',
      );
      expect(pending.length).toBeGreaterThan(1);
      await database.query('UPDATE webhooks SET url = $1 WHERE id = $2::uuid', [receiver.url, id]);
      clock.travel(HOUR_MS);
      await eventually(async () => {
        store.app.get(WebhookDeliverer).runNow();
        const deliveries = (await administer(`/admin/webhooks/${id}/deliveries?limit=100`)).json;
        const states = pending.map(
          (row) => deliveries.find((delivery: { id: string }) => delivery.id === row['id']).state,
        );
        expect(states).toEqual(pending.map(() => 'delivered'));
      });
      const verifier = new Verifier(secrets[0] ?? '');
      for (const { headers, body } of receiver.received) {
        // The library compares the time of the signature with the real one.
        const timestamp = new Date(Number(headers['webhook-timestamp']) * 1000);
        const signature = verifier.sign(headers['webhook-id'] ?? '', timestamp, body);
        expect(String(headers['webhook-signature']).split(' ')).toContain(signature);
      }
      expect(receiver.received.length).toBeGreaterThanOrEqual(pending.length);
    });
  });
});
