import { randomUUID } from 'node:crypto';
import { FailedRequestRecorder } from '../../src/usage/failed-requests/failed-request.recorder.js';
import { send } from '../support/http/http.js';
import { UNLIMITED } from '../support/keys/keys.js';
import { useApplication } from '../support/service/application.js';
import { animalStore } from '../support/service/terminal.js';

describe('animal-store requests', () => {
  const store = useApplication();
  const requests = (...args: string[]) =>
    animalStore({ DATABASE_URL: store.database.url, APP_ENV: 'production' }, 'requests', ...args);

  it('finds a failed request by its X-Request-Id, and lists those of a key', async () => {
    const key = await store.issue({ ...UNLIMITED, name: "Ann's shop", externalId: 'customer-7' });
    const requestId = randomUUID();
    const failed = await send(`${store.url}/v1/pets?status=dead`, {
      key: key.key,
      headers: { 'X-Request-Id': requestId },
    });
    await send(`${store.url}/v1/nothing`, { key: key.key });
    await store.app.get(FailedRequestRecorder).flush();

    const { stdout, code } = await requests('show', requestId);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^request +GET \/v1\/pets$/m);
    expect(stdout).toMatch(/^response +400 invalid_request$/m);
    expect(stdout).toContain(failed.json.message);
    expect(stdout).toMatch(new RegExp(`^plan +${key.plan}$`, 'm'));
    expect((await requests('show', `Hello, my request ${requestId} failed.`)).stdout).toBe(stdout);
    expect(stdout).toContain(`"Ann's shop" ${key.prefix}…${key.lastFour}`);

    // Its client sends the id again.
    await send(`${store.url}/v1/nothing`, { key: key.key, headers: { 'X-Request-Id': requestId } });
    await store.app.get(FailedRequestRecorder).flush();
    const again = await requests('show', requestId);
    expect(again.stdout).toMatch(/^response +404 not_found$/m);
    expect(again.stdout).toContain('1 earlier failed request has this id too: requests list --request-id ID');
    const both = await requests('list', '--request-id', requestId, '--json');
    expect(JSON.parse(both.stdout)).toMatchObject([{ status: 404 }, { status: 400 }]);

    const listed = await requests('list', '--key', key.id.slice(-8), '--status', '404', '--json');
    expect(JSON.parse(listed.stdout)).toMatchObject([
      { path: '/v1/nothing', code: 'not_found', requestId },
      { path: '/v1/nothing', code: 'not_found' },
    ]);
    expect((await requests('list', '--quota', key.quotaId)).stdout.trim().split('\n')).toHaveLength(4);
    const ofCustomer = await requests('list', '--external-id', 'customer-7', '--limit', '1');
    expect(ofCustomer.stdout).toMatch(/ EXTERNAL ID\n.* customer-7\n$/);
    expect((await requests('list', '--external-id', 'customer-8')).stdout).toBe('None.\n');
    expect(again.stdout).toMatch(/^external id +customer-7$/m);
    expect((await requests('list', '--until', '2020-01-01T00:00:00Z')).stdout).toBe('None.\n');
  });

  it('says that an unknown id may belong to a request that succeeded', async () => {
    const { code, stderr } = await requests('show', 'unknown');
    expect(code).toBe(1);
    expect(stderr).toContain(
      'No failed request with the id "unknown" is kept. Requests that succeed are not kept; those that ' +
        'fail are kept for 24 hours unless the service is set otherwise, at most 60 a minute for a quota.',
    );
  });

  it('lists only with a status that a failed request can have', async () => {
    for (const status of ['200', '999', 'x']) {
      const { code, stderr } = await requests('list', '--status', status);
      expect([code, stderr]).toEqual([2, expect.stringContaining('It must be an integer from 400 to 599.')]);
    }
  });
});
