import { createDatabase } from '../support/database/database.js';
import { issueKey } from '../support/keys/keys.js';
import { send } from '../support/http/http.js';
import { ServiceProcess } from '../support/service/service-process.js';

it('concurrent requests for the rate-limit status make the database driver warn of nothing', async () => {
  const database = await createDatabase();
  const { key } = await issueKey(database, { plan: 'business' });
  const service = new ServiceProcess('main.js', { APP_ENV: 'staging', DATABASE_URL: database.url });
  try {
    const url = await service.ready();
    const requests = Array.from({ length: 20 }, () => send(`${url}/v1/rate-limit`, { key }));
    const statuses = (await Promise.all(requests)).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(await service.kill('SIGTERM')).toMatchObject({ code: 0, stderr: '' });
  } finally {
    await service.kill('SIGKILL');
    await database.drop();
  }
});
