import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { shareApplication } from '../support/service/application.js';

const ROOT = path.resolve(__dirname, '..', '..');
const FOLDER = path.join(__dirname, 'generators');
const program = (name: string) => path.join(ROOT, 'node_modules', '.bin', name);

/** Runs a program in the folder, and returns its output. */
const run = async (command: string, ...args: string[]): Promise<string> =>
  (await promisify(execFile)(command, args, { cwd: FOLDER })).stdout;

describe('a client that @hey-api/openapi-ts generates from the OpenAPI documents', () => {
  const store = shareApplication();

  beforeAll(async () => {
    await rm(path.join(FOLDER, '.generated'), { recursive: true, force: true });
    for (const name of ['openapi', 'admin-openapi']) {
      const files = ['--input', `../../../docs/${name}.json`, '--output', `.generated/${name}`];
      await run(program('openapi-ts'), ...files, '--client', '@hey-api/client-fetch');
    }
  });

  it('compiles in strict mode', async () => {
    expect(await run(program('tsc'), '--project', FOLDER)).toBe('');
  });

  it('calls one operation of each tag', async () => {
    const { key } = await store.issue({ plan: 'business', role: 'admin' });
    expect(JSON.parse(await run(process.execPath, '.generated/js/call.js', store.url, key))).toEqual({
      pets: 200,
      store: 200,
      limits: 200,
      keys: 201,
      plans: 200,
      usage: 200,
      webhooks: 200,
      audit: 200,
      health: 200,
    });
  });
});
