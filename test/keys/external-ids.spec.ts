import type { IssuedKey } from '../../src/keys/key.schemas.js';
import { changingNothing } from '../support/database/stored-state.js';
import { expectInvalid } from '../support/http/expectations.js';
import { type HttpResponse, listedIds, send } from '../support/http/http.js';
import { parseLinks } from '../support/http/links.js';
import { useAdministration } from '../support/keys/administration.js';
import { recordUsage } from '../support/keys/usage.js';

const admin = useAdministration();
const { send: sendAsAdmin, issue } = admin;

const updateQuota = ({ quotaId }: { quotaId: string }, body: unknown) =>
  sendAsAdmin(`PATCH /admin/quotas/${quotaId}`, body);
const find = async ({ id }: { id: string }) => (await sendAsAdmin(`GET /admin/keys/${id}`)).json;
const unchanged = (work: () => Promise<HttpResponse>) => changingNothing(admin.store.database, work);
const listAuditEvents = async ({ quotaId }: IssuedKey, action: string) =>
  (await sendAsAdmin(`GET /admin/audit?quotaId=${quotaId}&action=${action}`)).json.map(
    ({ before, after }: { before: object; after: object }) => [before, after],
  );

describe('the externalId of a quota', () => {
  it('is given with a new key, is that of all keys of the quota, and is shown to no holder', async () => {
    const key = await issue({ externalId: 'customer-7' });
    expect(key.externalId).toBe('customer-7');
    const further = await issue({ plan: undefined, quotaId: key.quotaId });
    const { json: successor } = await sendAsAdmin(`POST /admin/keys/${key.id}/rotate`);
    for (const each of [key, further, successor]) {
      expect((await find(each)).externalId).toBe('customer-7');
    }
    expect((await sendAsAdmin(`GET /admin/quotas/${key.quotaId}`)).json.externalId).toBe('customer-7');
    for (const path of ['/v1/key', '/v1/usage', '/v1/rate-limit']) {
      expect((await send(admin.store.url + path, { key: key.key })).text).not.toContain('customer-7');
    }
    const [issued] = (await sendAsAdmin(`GET /admin/audit?keyId=${key.id}&action=key.issued`)).json;
    expect(issued.after.externalId).toBe('customer-7');
  });

  it('is changed on the quota, kept by other changes, and removed by null', async () => {
    const key = await issue({ plan: 'pro' });
    expect((await updateQuota(key, { externalId: 'customer-8' })).json).toMatchObject({
      externalId: 'customer-8',
      plan: 'pro',
      limitsSource: 'plan',
    });
    await updateQuota(key, { plan: 'free' });
    expect((await find(key)).externalId).toBe('customer-8');
    await updateQuota(key, { externalId: 'customer-8' });
    expect((await updateQuota(key, { externalId: null })).json.externalId).toBeNull();
    const limits = expect.objectContaining({ plan: 'free' });
    expect(await listAuditEvents(key, 'quota.updated')).toEqual([
      [expect.objectContaining({ externalId: 'customer-8' }), expect.objectContaining({ externalId: null })],
      [expect.not.objectContaining({ externalId: expect.anything() }), limits],
      [expect.objectContaining({ externalId: null }), expect.objectContaining({ externalId: 'customer-8' })],
    ]);
  });

  it.each(['x', '🐕'.repeat(255), ` <b>"7"</b> \\ `])('is stored as given: %s', async (externalId) => {
    expect(await find(await issue({ externalId }))).toMatchObject({ externalId });
  });

  it.each([
    ['', 'must not be blank'],
    [' ', 'must not be blank'],
    ['x'.repeat(256), 'must have at most 255 characters'],
    ['a\0', 'must be text without control characters'],
    ['\ud800', 'must be text without control characters'],
    [7, 'must be a string'],
  ])('is rejected if it is %j, and nothing changes', async (externalId, fault) => {
    const key = await issue();
    expectInvalid(await unchanged(() => updateQuota(key, { externalId })), `externalId ${fault}`);
    const input = { name: 'x', plan: 'free', externalId };
    expectInvalid(await unchanged(() => sendAsAdmin('POST /admin/keys', input)), `externalId ${fault}`);
  });

  it('is rejected with a quota that exists, which has its own', async () => {
    const { quotaId } = await issue();
    const input = { name: 'x', quotaId, externalId: 'x' };
    expectInvalid(
      await unchanged(() => sendAsAdmin('POST /admin/keys', input)),
      'quotaId must not be given with plan, perMinute, perDay or externalId: they are those of the quota',
    );
  });

  it('selects keys, on every page, with other filters too', async () => {
    const externalId = 'Größe & 9';
    const [one, two, other] = [await issue({ externalId }), await issue({ externalId }), await issue()];
    const query = `externalId=${encodeURIComponent(externalId)}`;
    expect(listedIds(await sendAsAdmin(`GET /admin/keys?${query}`))).toEqual([one.id, two.id]);
    const first = await sendAsAdmin(`GET /admin/keys?${query}&limit=1`);
    expect(first.headers.get('x-total-count')).toBe('2');
    const { next } = parseLinks(first);
    expect(listedIds(await sendAsAdmin(`GET ${next}`))).toEqual([two.id]);
    expect(listedIds(await sendAsAdmin(`GET /admin/keys?${query}&quotaId=${two.quotaId}`))).toEqual([two.id]);
    expect(listedIds(await sendAsAdmin(`GET /admin/keys?${query}&quotaId=${other.quotaId}`))).toEqual([]);
    // It is compared as it is.
    expect(listedIds(await sendAsAdmin('GET /admin/keys?externalId=gr%C3%B6%C3%9Fe%20%26%209'))).toEqual([]);
  });

  it('selects and is shown with the usage of the customer', async () => {
    const externalId = 'customer-10';
    const [one, two, other] = [await issue({ externalId }), await issue({ externalId }), await issue()];
    for (const { key } of [one, two, two, other]) {
      await send(`${admin.store.url}/v1/pets`, { key });
    }
    await recordUsage(admin.store);
    const get = async (path: string) => (await sendAsAdmin(`GET /admin/usage${path}`)).json;
    const byKey = [two, one].map((key, index) => ({
      keyId: key.id,
      quotaId: key.quotaId,
      externalId,
      requests: 2 - index,
    }));
    const selected = await get(`?externalId=${externalId}`);
    expect(selected).toHaveLength(2);
    expect(selected).toEqual(expect.arrayContaining(byKey.map((entry) => expect.objectContaining(entry))));
    const all = await get('?limit=100');
    expect(all).toContainEqual(expect.objectContaining({ keyId: other.id, externalId: null, requests: 1 }));
    expect(await get(`/top?externalId=${externalId}`)).toEqual(
      byKey.map((entry) => expect.objectContaining(entry)),
    );
    expect(await get(`/top?by=quota&externalId=${externalId}&limit=1`)).toEqual([
      expect.objectContaining({ keyId: null, quotaId: two.quotaId, externalId, requests: 2 }),
    ]);
    expect(await get(`/totals?externalId=${externalId}`)).toEqual([expect.objectContaining({ requests: 3 })]);
    expect(await get(`/operations?externalId=${externalId}&quotaId=${one.quotaId}`)).toEqual([
      expect.objectContaining({ operation: 'listPets', requests: 1 }),
    ]);
    expect(await get('/totals?externalId=nobody')).toEqual([]);
  });
});

describe('a date in the query of a list', () => {
  it('is the start of that day in UTC', async () => {
    const key = await issue({ expiresAt: '2999-01-31' });
    const list = async (query: string) =>
      listedIds(await sendAsAdmin(`GET /admin/keys?quotaId=${key.quotaId}&${query}`));
    expect(await list('expiresBefore=2999-01-31')).toEqual([]);
    expect(await list('expiresBefore=2999-02-01')).toEqual([key.id]);
    const { headers } = await sendAsAdmin('GET /admin/usage/totals?since=2027-01-31&until=2027-02-01');
    expect(headers.get('link')).toContain(
      'since=2027-01-31T00%3A00%3A00.000Z&until=2027-02-01T00%3A00%3A00.000Z',
    );
  });
});
