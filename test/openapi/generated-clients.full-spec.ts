import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { startApplication, type TestApplication } from '../support/service/application.js';

const FOLDER = path.join(__dirname, '..', 'generators');
const COMPILER = path.join(FOLDER, 'node_modules', 'typescript', 'bin', 'tsc');

/** Runs a script of the folder, and returns its output. */
async function run(script: string, ...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [path.resolve(FOLDER, script), ...args], {
    cwd: FOLDER,
  });
  return stdout;
}

describe('a client that @hey-api/openapi-ts generates from the OpenAPI documents', () => {
  let store: TestApplication;
  let key: string;

  beforeAll(async () => {
    store = await startApplication();
    ({ key } = await store.issue({ plan: 'business', role: 'admin' }));
    await run('install.mjs');
    await run('generate.mjs');
  });
  afterAll(() => store.close());

  it('compiles in strict mode', async () => {
    expect(await run(COMPILER, '--project', FOLDER)).toBe('');
  });

  it('calls one operation of each tag', async () => {
    expect(JSON.parse(await run('.generated/js/call.js', store.url, key))).toEqual({
      pets: 200,
      store: 200,
      limits: 200,
      keys: 201,
      plans: 200,
      usage: 200,
      audit: 200,
      health: 200,
    });
  });
});
