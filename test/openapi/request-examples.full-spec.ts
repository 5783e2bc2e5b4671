import { ApiDocument, type Operation } from '../support/http/document.js';
import { shareApplication } from '../support/service/application.js';

const api = new ApiDocument();
const withBody = api.operations.filter(({ body }) => body !== null);

describe('the example of a request body', () => {
  const store = shareApplication();
  let admin: string;

  beforeAll(async () => {
    ({ key: admin } = await store.issue({ plan: 'business', role: 'admin' }));
    // The demonstration has animals too.
    await store.database.query(
      `INSERT INTO pets (name, category_id) SELECT n, 7 FROM generate_series(1, 36) n`,
    );
  });

  it('exists for each operation with a body', () => {
    expect(withBody.length).toBeGreaterThan(10);
    expect(withBody.filter(({ body }) => !body?.examples?.length)).toStrictEqual([]);
  });

  it.each(withBody.map((operation): [string, Operation] => [operation.operationId, operation]))(
    'succeeds as on the demonstration: %s',
    async (_name, { method, path, body }) => {
      const { id, key } = await store.issue();
      const [example] = body?.examples ?? [];
      expect(example).toBeDefined();
      const webhook = { url: 'https://ops.example/', events: ['key.revoked'] };
      const created = await store.send('/admin/webhooks', { method: 'POST', key: admin, body: webhook });
      const target = path
        .replace('{id}', id)
        .replace('{plan}', 'free')
        .replace('{webhookId}', created.json.id);
      // The key of an example was never issued.
      const sent = { ...(example as object), ...(body?.required?.includes('key') && { key }) };
      const { status, json } = await store.send(target, { method, key: admin, body: sent });
      expect([200, 201].includes(status) ? [] : [status, json]).toStrictEqual([]);
    },
  );
});
