import { spawn } from 'node:child_process';
import { cp, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createDatabase, type TestDatabase } from '../support/database/database.js';
import { documented } from '../support/documented-commands.js';
import { eventually } from '../support/eventually.js';
import { send } from '../support/http/http.js';
import { freePort } from '../support/programs/free-port.js';
import { KeptOutput } from '../support/programs/kept-output.js';
import { ServiceProcess } from '../support/service/service-process.js';

const ROOT = path.resolve(import.meta.dirname, '..', '..');
/** Enough for four commands, each a process, on a machine with other work. */
const COMMANDS_MS = 120_000;

describe('docs/webhooks.md', () => {
  let database: TestDatabase;
  let folder: string;
  let service: ServiceProcess;
  let shell: KeptOutput;

  beforeAll(async () => {
    database = await createDatabase();
    folder = await mkdtemp(path.join(tmpdir(), 'webhooks-'));
    await cp(path.join(ROOT, 'package.json'), path.join(folder, 'package.json'));
    for (const name of ['node_modules', 'dist']) {
      await symlink(path.join(ROOT, name), path.join(folder, name), 'junction');
    }
  });
  afterAll(async () => {
    // The receiver runs on in the process group of its shell.
    process.kill(-shell.pid);
    await service.kill('SIGTERM');
    await database.drop();
    await rm(folder, { recursive: true });
  });

  it('has commands by which a receiver prints a test event, and rejects a forged one', async () => {
    const settings = { DATABASE_URL: database.url, APP_ENV: 'production' };
    service = new ServiceProcess('main.js', { ...settings, WEBHOOK_ALLOW_PRIVATE_ADDRESSES: 'true' });
    await service.ready();
    const port = String(await freePort());
    const [receiver = '', commands = ''] = ['js', 'sh'].map((language) =>
      documented('webhooks.md', 'A receiver', language).replaceAll('4000', port),
    );
    await writeFile(path.join(folder, 'receiver.mjs'), receiver);
    const env = { ...process.env, ...settings };
    shell = new KeptOutput(
      spawn('bash', ['-euo', 'pipefail', '-c', commands], { cwd: folder, env, detached: true }),
    );
    await eventually(
      async () => expect(shell.output).toMatch(/^webhook\.test \{ webhookId: '/m),
      COMMANDS_MS,
    );
    await eventually(async () => expect(shell.output).toMatch(/^ID .* RESPONSE STATUS/m), COMMANDS_MS);

    const forged = await send(`http://127.0.0.1:${port}`, { method: 'POST', body: { type: 'key.revoked' } });
    expect(forged).toMatchObject({ status: 400, text: 'Missing required headers' });
    const states = await database.query('SELECT state, attempts, response_status FROM webhook_deliveries');
    expect(states).toEqual([{ state: 'delivered', attempts: 1, response_status: 204 }]);
  });
});
