import { setTimeout as pause } from 'node:timers/promises';
import { DebianPostgres, describeOnDebianPostgres } from './support/debian-postgres.js';
import { run, ServiceProcess } from './support/service-process.js';
import { send } from './support/http.js';

const MINUTE_MS = 60_000;
/** More than it takes to ban a key: with this much of a minute left, that happens within the minute. */
const BURST_MS = 15_000;

describeOnDebianPostgres('a PostgreSQL older than the embedded one', () => {
  let server: DebianPostgres;
  let settings: Record<string, string>;

  beforeAll(async () => {
    server = await DebianPostgres.create();
    await server.start();
    settings = { DATABASE_URL: server.url(), APP_ENV: 'staging', HOST: '127.0.0.1' };
  });
  afterAll(() => server.remove());

  it('is migrated and seeded, counts exactly, and bans', async () => {
    const service = new ServiceProcess('main.js', { ...settings, LOG_LEVEL: 'silent' });
    try {
      const url = await service.listening();
      expect((await run('cli/seed.js', settings)).code).toBe(0);
      const limits = ['--per-minute', '1000', '--per-day', '60'];
      const issue = ['keys', 'issue', '--name', 'x', '--plan', 'enterprise', ...limits, '--json'];
      const { key } = JSON.parse((await run('cli/admin.js', settings, ...issue)).stdout);
      const created = await send(`${url}/v1/pets`, {
        method: 'POST',
        key,
        body: { name: 'Old', categoryId: 1 },
      });
      expect(created.status).toBe(201);
      const responses = await Promise.all(
        Array.from({ length: 200 }, () => send(`${url}/v1/pets/${created.json.id}`, { key })),
      );
      expect(responses.filter(({ status }) => status === 200)).toHaveLength(59);
      expect(responses.filter(({ status }) => status === 429)).toHaveLength(141);

      // This process uses the real clock, so enough of this minute must be left.
      const leftMs = MINUTE_MS - (Date.now() % MINUTE_MS);
      if (leftMs < BURST_MS) {
        await pause(leftMs);
      }
      const options = [
        '--name',
        'y',
        '--plan',
        'enterprise',
        '--per-minute',
        '5',
        '--per-day',
        '100',
        '--json',
      ];
      const issued = await run('cli/admin.js', settings, 'keys', 'issue', ...options);
      const codes: unknown[] = [];
      for (let sent = 0; sent < 12; sent += 1) {
        const { json } = await send(`${url}/v1/pets`, { key: JSON.parse(issued.stdout).key });
        codes.push(json.code);
      }
      expect(codes).toEqual([
        ...Array(5).fill(undefined),
        ...Array(4).fill('rate_limit_exceeded'),
        ...Array(3).fill('api_key_banned'),
      ]);
    } finally {
      await service.kill('SIGTERM');
    }
  });
});
