import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  AnimalStore,
  ConflictError,
  ConnectionError,
  NotFoundError,
  PermissionDeniedError,
} from 'animal-store-client';
import {
  baseUrl,
  catchError,
  collect,
  connect,
  errorResponse,
  issueKey,
  recordingFetch,
} from './support/store.js';

const administrator = (options) =>
  new AnimalStore({ baseUrl, apiKey: process.env.ANIMAL_STORE_ADMIN_KEY, ...options });
const { admin } = administrator();

describe('admin.keys', () => {
  it('issues, gets, updates, rotates and revokes a key', async () => {
    const issued = await admin.keys.issue({ name: 'admin test', plan: 'free' });
    assert.match(issued.key, /^ask_test_/);
    const { key: _key, ...shown } = issued;
    const { lastUsedAt, recentUsage, ...got } = await admin.keys.get(issued.id);
    assert.deepEqual(got, shown);
    assert.deepEqual([lastUsedAt, recentUsage.length, recentUsage.at(-1).requests], [null, 24, 0]);
    const updated = await admin.keys.update(issued.id, { name: 'updated', note: 'calls at night' });
    assert.deepEqual([updated.name, updated.note], ['updated', 'calls at night']);
    const successor = await admin.keys.rotate(issued.id, { overlapSeconds: 60 });
    assert.equal(successor.predecessorId, issued.id);
    assert.equal(successor.overlapEndsAt, (await admin.keys.get(issued.id)).expiresAt);
    await new AnimalStore({ baseUrl, apiKey: successor.key }).key.get();
    assert.ok((await catchError(admin.keys.rotate(issued.id))) instanceof ConflictError);
    assert.equal((await admin.keys.revoke(successor.id)).state, 'revoked');
  });

  it('lists keys page after page', async () => {
    const { items } = await admin.keys.list({ limit: 1 });
    assert.equal(items.length, 1);
    const all = await collect(admin.keys.list({ limit: 2, plan: 'business' }));
    assert.ok(all.every(({ plan }) => plan === 'business'));
    assert.ok(all.length >= 1);
  });

  it('lists keys by a part of their name, and by their state', async () => {
    const { id, name } = await admin.keys.issue({ name: 'Ünique & sought', plan: 'free' });
    await admin.keys.issue({ name, plan: 'free' });
    await admin.keys.revoke(id);
    const search = 'ünique & s';
    const found = await collect(admin.keys.list({ limit: 1, search }));
    assert.deepEqual(
      found.map(({ state }) => state),
      ['revoked', 'active'],
    );
    const { items } = await admin.keys.list({ search, state: 'revoked' });
    assert.deepEqual(
      items.map((key) => key.id),
      [id],
    );
  });

  it('lists keys in each order, page after page, and by quota, expiry and last use', async () => {
    const name = 'sorted by the client';
    const { id, quotaId } = await admin.keys.issue({ name, plan: 'free', expiresAt: '2999-01-01T00:00:00Z' });
    const { id: newest } = await admin.keys.issue({ name, plan: 'free' });
    for (const [sort, ids] of [
      ['-createdAt', [newest, id]],
      ['name', [id, newest]],
      ['-lastUsedAt', [newest, id]],
      ['expiresAt', [id, newest]],
    ]) {
      const found = await collect(admin.keys.list({ limit: 1, search: name, sort }));
      assert.deepEqual([sort, found.map((key) => key.id)], [sort, ids]);
    }
    for (const filter of [{ quotaId }, { search: name, expiresBefore: '2999-01-02T00:00:00Z' }]) {
      const { items } = await admin.keys.list(filter);
      assert.deepEqual(
        items.map((key) => key.id),
        [id],
      );
    }
    const { items } = await admin.keys.list({ unusedSince: '2020-01-01T00:00:00Z' });
    assert.deepEqual(items, []);
  });

  it('lists the usage of a key', async () => {
    const store = await connect();
    await store.pets.list({ limit: 1 });
    const { id } = (await collect(admin.keys.list({ limit: 100 }))).at(-1);
    const { status } = await admin.keys.usage(id, { period: 'minute' }).withResponse();
    assert.equal(status, 200);
  });

  it('restricts a key, keeps what is left out, suggests scopes, and revokes a key that leaked', async () => {
    const { id, key } = await admin.keys.issue({ name: 'restricted', plan: 'free', scopes: ['pets:read'] });
    const { scopes, allowedNetworks } = await admin.keys.update(id, { allowedNetworks: ['203.0.113.7'] });
    assert.deepEqual([scopes, allowedNetworks], [['pets:read'], ['203.0.113.7/32']]);
    assert.equal((await admin.keys.update(id, { scopes: null })).scopes, null);
    const { scopes: suggested } = await admin.keys.scopeSuggestion(id);
    assert.ok(suggested.every(({ uses, lastRequestAt }) => uses === 0 && lastRequestAt === null));
    assert.equal((await admin.keys.revokeLeaked({ key })).id, id);
  });

  it('does not issue a key again when no response arrives', async () => {
    for (const call of [
      (keys) => keys.issue({ name: 'twice', plan: 'free' }),
      (keys) => keys.rotate('00000000-0000-4000-8000-000000000000'),
    ]) {
      const { fetch, requests } = recordingFetch(() => {
        throw new TypeError('The line is cut');
      });
      assert.ok((await catchError(call(administrator({ fetch }).admin.keys))) instanceof ConnectionError);
      assert.equal(requests.length, 1);
    }
  });

  it('repeats what may be carried out twice', async () => {
    const { fetch, requests } = recordingFetch((_request, attempt) =>
      attempt === 1 ? errorResponse(503, 'service_unavailable') : undefined,
    );
    const { id } = await admin.keys.issue({ name: 'revoked', plan: 'free' });
    const { state } = await administrator({ fetch, pause: async () => {} }).admin.keys.revoke(id);
    assert.deepEqual([state, requests.length], ['revoked', 2]);
  });

  it('rejects with a PermissionDeniedError for a key of another role', async () => {
    const store = await connect();
    const error = await catchError(store.admin.keys.list());
    assert.ok(error instanceof PermissionDeniedError);
    assert.deepEqual([error.status, error.code], [403, 'forbidden']);
  });
});

describe('admin.quotas', () => {
  it('gets what limits would have denied', async () => {
    const { quotaId } = await admin.keys.issue({ name: 'unused', plan: 'free' });
    const { denied, perMinute, smallestPlans } = await admin.quotas.whatIf(quotaId, { plan: 'pro' });
    assert.deepEqual([denied, perMinute, smallestPlans[0].plan], [0, 300, 'free']);
    assert.equal((await admin.quotas.whatIf(quotaId, { perMinute: 7, perDay: 70 })).perDay, 70);
  });
});

describe('admin.plans', () => {
  it('sets, gets and lists plans', async () => {
    const limits = { perMinute: 7, perDay: 70, maxKeyLifetimeDays: null };
    const plan = { name: 'client-test', ...limits, validKeyCount: 0, warnings: [] };
    const { data, status } = await admin.plans.set(plan.name, { perMinute: 7, perDay: 70 }).withResponse();
    assert.deepEqual([data, status], [plan, 201]);
    assert.deepEqual(await admin.plans.get(plan.name), plan);
    const plans = await collect(admin.plans.list({ limit: 2 }));
    assert.deepEqual(
      plans.find(({ name }) => name === plan.name),
      plan,
    );
  });
});

describe('admin.webhooks', () => {
  it('creates, lists, changes and deletes a webhook, rotates its secret, and sends deliveries', async () => {
    const events = ['key.revoked'];
    const { secret, ...webhook } = await admin.webhooks.create({ url: 'https://ops.example/', events });
    assert.match(secret, /^whsec_/);
    assert.deepEqual((await collect(admin.webhooks.list({ limit: 1 }))).at(-1), webhook);
    assert.deepEqual(await admin.webhooks.get(webhook.id), webhook);
    const rotated = await admin.webhooks.rotateSecret(webhook.id);
    assert.notEqual(rotated.secret, secret);
    const key = await admin.keys.issue({ name: 'Ann', plan: 'free' });
    await admin.keys.revoke(key.id);
    const [delivery] = await collect(admin.webhooks.deliveries(webhook.id, { limit: 1 }));
    assert.deepEqual([delivery.eventType, delivery.payload.data.keyId], ['key.revoked', key.id]);
    await assert.rejects(admin.webhooks.resendDelivery(webhook.id, webhook.id), NotFoundError);
    const { eventType, state } = await admin.webhooks.test(webhook.id);
    assert.deepEqual([eventType, state], ['webhook.test', 'pending']);
    assert.equal((await admin.webhooks.update(webhook.id, { paused: true })).paused, true);
    await assert.rejects(admin.webhooks.test(webhook.id), ConflictError);
    assert.equal((await admin.webhooks.delete(webhook.id)).id, webhook.id);
  });
});

describe('admin.usage, admin.deprecations and admin.audit', () => {
  it('list their entries', async () => {
    await admin.keys.issue({ name: 'audited', plan: 'free' });
    const { items } = await admin.audit.list({ limit: 100 });
    assert.ok(
      items.some(({ action }) => action.includes('key')),
      JSON.stringify(items[0]),
    );
    const issued = items.find(({ after }) => after.name === 'audited');
    const ofKey = await admin.audit.list({ keyId: issued.subject.id, action: 'key.issued' });
    assert.deepEqual(ofKey.items, [issued]);
    assert.ok(Array.isArray((await admin.usage.list({ period: 'minute' })).items));
    assert.ok(Array.isArray((await admin.deprecations.list()).items));
  });
});

describe('admin.usage', () => {
  it('reports the requests of a key by period and by operation, and the keys with the most', async () => {
    const { key, id } = await issueKey();
    const store = new AnimalStore({ baseUrl, apiKey: key });
    await store.pets.list({ limit: 1 });
    await store.pets.list({ limit: 1 });
    const range = { period: 'minute', since: new Date(Date.now() - 3_600_000).toISOString(), keyId: id };
    let totals = [];
    while (totals.reduce((sum, { requests }) => sum + requests, 0) < 2) {
      totals = await collect(admin.usage.totals({ ...range, limit: 1 }));
    }
    assert.ok(totals.every(({ statuses, requests }) => statuses['2xx'] === requests));
    const [operation, ...others] = await collect(admin.usage.byOperation({ ...range, limit: 1 }));
    assert.deepEqual([operation.operation, operation.requests, others], ['listPets', 2, []]);
    const until = new Date().toISOString();
    const [first, second] = await collect(admin.usage.top({ until, limit: 1 }));
    assert.ok(first.requests >= second.requests);
    const { items } = await admin.usage.top({ limit: 1, by: 'quota' });
    assert.deepEqual([items.length, items[0].keyId], [1, null]);
  });
});

describe('admin.quotas', () => {
  it('gets, updates and unbans a quota, and gets its rate-limit status', async () => {
    const { quotaId } = await admin.keys.issue({ name: 'on a quota', plan: 'free' });
    const quota = await admin.quotas.get(quotaId);
    assert.deepEqual([quota.plan, quota.limitsSource, quota.validKeyCount], ['free', 'plan', 1]);
    const updated = await admin.quotas.update(quotaId, { plan: 'pro' });
    assert.deepEqual([updated.plan, updated.perMinute], ['pro', 300]);
    const { windows } = await admin.quotas.rateLimit(quotaId);
    assert.deepEqual(
      windows.map(({ limit, remaining }) => [limit, remaining]),
      [
        [300, 300],
        [10_000, 10_000],
      ],
    );
    assert.equal((await admin.quotas.unban(quotaId)).bannedUntil, null);
  });
});

describe('admin.health.get', () => {
  it('returns the health of the replica', async () => {
    const { status, components } = await admin.health.get();
    assert.deepEqual([status, components.database], ['ready', { status: 'up' }]);
  });
});
