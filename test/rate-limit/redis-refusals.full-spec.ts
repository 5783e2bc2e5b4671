import { rm } from 'node:fs/promises';
import { Logger } from '@nestjs/common';
import { parseRedisAddresses } from '../../src/process/settings/redis-address.js';
import { eventually, until } from '../support/eventually.js';
import { send } from '../support/http/http.js';
import { createFolder } from '../support/programs/programs.js';
import { describeOnRedisAndValkey, type RedisServer, startRedis } from '../support/programs/redis.js';
import { startApplication, type TestApplication } from '../support/service/application.js';

/** What the user of a provider may do. */
const ALLOWED = ['~animal-store:*', '+@all', '-@dangerous'];

describeOnRedisAndValkey('a Redis that replies, but cannot count', (program) => {
  let server: RedisServer;
  let folder: string;
  let service: TestApplication;
  let lines: jest.SpyInstance;

  beforeAll(async () => {
    folder = await createFolder('redis-refusals-');
    server = await startRedis({ dir: folder }, { program });
    await server.operator.acl('SETUSER', 'app', 'on', '>pw', ...ALLOWED);
    lines = jest.spyOn(Logger.prototype, 'warn').mockReturnValue();
    const COUNTER_STORE_URL = parseRedisAddresses(server.url.replace('//', '//app:pw@')) ?? [];
    service = await startApplication({ environment: { COUNTER_STORE_URL } });
  });
  afterAll(async () => {
    await service.close();
    await server.stop();
    lines.mockRestore();
    await rm(folder, { recursive: true, force: true });
  });

  const operate = (...command: [string, ...string[]]) => server.operator.call(...command);
  const failToSave = async () => {
    await rm(folder, { recursive: true });
    await operate('CONFIG', 'SET', 'save', '3600 1000000');
    await operate('BGSAVE');
    await until(async () => /rdb_last_bgsave_status:err/.test(await server.operator.info('persistence')));
  };

  it('warns at its start that the policy could not be checked, and counts', async () => {
    const { key } = await service.issue({ role: 'admin', plan: 'business' });
    const warning =
      `COUNTER_STORE_URL: the maxmemory-policy of 127.0.0.1:${server.port} could not be checked. Allow the ` +
      'user to run INFO and restart, or make sure that the policy is noeviction; with any other, counts ' +
      'and bans are forgotten when memory is full';
    const { status, headers, json } = await send(`${service.url}/admin/health`, { key });
    expect([status, headers.get('x-ratelimit-degraded')]).toEqual([200, null]);
    expect(json.warnings).toEqual([{ code: 'eviction_policy_unknown', message: warning }]);
    expect(json.components.counterStore).toEqual({ status: 'up', kind: 'redis' });
    expect(lines.mock.calls).toEqual([[warning]]);
  });

  it.each<[reason: string, begin: () => Promise<unknown>, end: () => Promise<unknown>]>([
    ['MISCONF', failToSave, () => operate('CONFIG', 'SET', 'save', '')],
    [
      'OOM',
      () => operate('CONFIG', 'SET', 'maxmemory', '1'),
      () => operate('CONFIG', 'SET', 'maxmemory', '0'),
    ],
    [
      "can't run this command|no permissions",
      () => operate('ACL', 'SETUSER', 'app', '-pexpire'),
      () => operate('ACL', 'SETUSER', 'app', '+pexpire'),
    ],
    [
      'NOREPLICAS',
      () => operate('CONFIG', 'SET', 'min-replicas-to-write', '1'),
      () => operate('CONFIG', 'SET', 'min-replicas-to-write', '0'),
    ],
    ['READONLY', () => operate('REPLICAOF', '127.0.0.1', '1'), () => operate('REPLICAOF', 'NO', 'ONE')],
    [
      'MASTERDOWN',
      async () => {
        await operate('CONFIG', 'SET', 'replica-serve-stale-data', 'no');
        await operate('REPLICAOF', '127.0.0.1', '1');
      },
      () => operate('REPLICAOF', 'NO', 'ONE'),
    ],
  ])('is unavailable from its first reply with %s on, and is back by itself', async (reason, begin, end) => {
    const administrator = await service.issue({ role: 'admin', plan: 'business' });
    const { key } = await service.issue();
    const listPets = async () => {
      const { status, headers } = await send(`${service.url}/v1/pets`, { key });
      return [status, headers.get('x-ratelimit-degraded')];
    };
    expect(await listPets()).toEqual([200, null]);
    await begin();
    for (let sent = 0; sent < 3; sent += 1) {
      expect(await listPets()).toEqual([200, 'true']);
    }
    // Requests within a second share one check.
    await eventually(async () => {
      const { json } = await send(`${service.url}/admin/health`, { key: administrator.key });
      const message = expect.stringMatching(reason);
      expect(json.components.counterStore).toMatchObject({ status: 'degraded', message });
    });
    expect((await send(`${service.url}/readyz`)).status).toBe(200);
    expect(lines.mock.calls.at(-1)).toEqual([
      expect.stringMatching(
        `^The counter store is unavailable, so this replica counts locally: .*(${reason})`,
      ),
    ]);
    await end();
    await eventually(async () => expect(await listPets()).toEqual([200, null]));
    expect(lines.mock.calls.at(-1)).toEqual(['The counter store is back']);
  });
});
