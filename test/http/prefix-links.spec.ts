import { send } from '../support/http/http.js';
import { UNLIMITED } from '../support/keys/keys.js';
import { type PrefixProxy, startPrefixProxy } from '../support/programs/prefix-proxy.js';
import { startApplication, type TestApplication } from '../support/service/application.js';

const PREFIX = '/shop/eu';
const PET = { name: 'Rex', categoryId: 7 };

let store: TestApplication;
let proxy: PrefixProxy;
let key: string;
let adminKey: string;

beforeAll(async () => {
  store = await startApplication({ environment: { STAGING_URL: `https://x.example${PREFIX}/v1` } });
  proxy = await startPrefixProxy(PREFIX, store.url);
  ({ key } = await store.issue(UNLIMITED));
  ({ key: adminKey } = await store.issue({ ...UNLIMITED, role: 'admin' }));
});
afterAll(async () => {
  proxy.stop();
  await store.close();
});

/** Returns where the links of a response lead, by relation. */
function links(header: string | null): Record<string, string> {
  const all = (header ?? '').matchAll(/<([^>]*)>; rel="([^"]*)"/g);
  return Object.fromEntries([...all].map(([, target = '', relation = '']) => [relation, target]));
}

const follow = (target: string | undefined, as?: string, method = 'GET') =>
  send(new URL(target ?? '', proxy.url).href, { key: as, method });

describe('a service behind a proxy that removes a prefix', () => {
  it('returns a Location that leads to the new animal, also in a replayed response', async () => {
    const headers = { 'Idempotency-Key': 'once' };
    const post = (url: string) => send(`${url}/v1/pets`, { method: 'POST', key, headers, body: PET });
    const created = await post(proxy.url);
    const replayed = await post(proxy.url);
    expect([created.status, replayed.status, replayed.headers.get('idempotent-replayed')]).toEqual([
      201,
      201,
      'true',
    ]);
    for (const { headers: got, json } of [created, replayed]) {
      expect(got.get('location')).toBe(`${PREFIX}/v1/pets/${json.id}`);
      expect((await follow(got.get('location') ?? '', key)).json).toEqual(json);
    }
    // The stored response has no prefix, so another one may come later.
    const stored = await store.database.query('SELECT location FROM stored_responses');
    expect(stored).toEqual([{ location: `/v1/pets/${created.json.id}` }]);
  });

  it('returns links that lead to the pages of a list', async () => {
    await send(`${proxy.url}/v1/pets`, { method: 'POST', key, body: PET });
    for (const [path, as] of [
      ['/v1/pets?limit=1', key],
      ['/admin/keys?limit=1', adminKey],
    ] as const) {
      const { headers } = await send(proxy.url + path, { key: as });
      for (const relation of ['first', 'next']) {
        const target = links(headers.get('link'))[relation];
        expect(target).toMatch(new RegExp(`^${PREFIX}/`));
        expect((await follow(target, as)).json).toHaveLength(1);
      }
    }
  });

  it.each(['GET', 'HEAD'])('returns links of a deprecation that lead somewhere: %s', async (method) => {
    const { headers } = await send(`${proxy.url}/v1/pets/999`, { key, method });
    const { 'successor-version': successor, deprecation } = links(headers.get('link'));
    expect([successor, deprecation]).toEqual([
      `${PREFIX}/v1/pets?status=available`,
      `${PREFIX}/docs#/pets/getPet`,
    ]);
    expect([(await follow(successor, key)).status, (await follow(deprecation)).status]).toEqual([200, 200]);
    const byId = `${PREFIX}/v1/pets?id=999`;
    expect(headers.get('link')).toContain(`<${byId}>; rel="successor-version"`);
    expect((await follow(byId, key)).json).toEqual([]);
  });

  it('names the successors of a removed operation by paths that lead somewhere', async () => {
    store.clock.travelTo(new Date('2030-12-05T00:00:00Z'));
    try {
      const { status, json } = await send(`${proxy.url}/v1/pets/999`, { key });
      const [byId, list] = [`${PREFIX}/v1/pets?id=999`, `${PREFIX}/v1/pets?status=available`];
      expect([status, json.message]).toEqual([
        410,
        `This operation was removed on 2030-12-05. Use GET ${byId} or GET ${list} instead.`,
      ]);
      expect([(await follow(byId, key)).status, (await follow(list, key)).status]).toEqual([200, 200]);
    } finally {
      store.clock.travelTo(new Date());
    }
  });

  it('leads a browser from / to the reference, and names it where there is nothing', async () => {
    const accept = { headers: { Accept: 'text/html' } };
    const redirect = await send(`${proxy.url}/`, { ...accept, redirect: 'manual' });
    expect([redirect.status, redirect.headers.get('location')]).toEqual([302, `${PREFIX}/docs`]);
    expect((await send(`${proxy.url}/`, accept)).status).toBe(200);
    expect((await send(`${proxy.url}/nothing`)).json.message).toContain(`listed at ${PREFIX}/docs.`);
  });

  it('is the first server of its documents', async () => {
    const first = async (file: string) => (await send(`${proxy.url}/${file}`)).json.servers[0].url;
    expect(await first('openapi.json')).toBe(`${PREFIX}/v1`);
    expect(await first('admin-openapi.json')).toBe(PREFIX);
  });

  it('serves requests without the prefix too', async () => {
    expect((await send(`${store.url}/v1/pets`, { key })).status).toBe(200);
  });
});
