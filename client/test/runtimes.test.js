import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { CLIENT, installPackage } from './support/package.js';
import { baseUrl, issueKey } from './support/store.js';

const RUN = `use(client, process.env.ANIMAL_STORE_URL, process.env.ANIMAL_STORE_KEY)
  .then((result) => console.log(JSON.stringify(result)));
`;
const MODULE = `import * as client from 'animal-store-client';\nimport { use } from './use.mjs';\n${RUN}`;
const COMMON_JS = `const client = require('animal-store-client');
const { use } = require('./use.mjs');
${RUN}`;

/** A runtime that `npm --prefix client/test/runtimes install --no-package-lock` has installed. */
const installed = (name) => path.join(CLIENT, 'test', 'runtimes', 'node_modules', '.bin', name);
const DENO = ['run', '--no-lock', '--node-modules-dir=manual', '--allow-net', '--allow-env', '--allow-read'];

const RUNTIMES = [
  { name: 'Node as an ES module', command: process.execPath, flags: [], file: 'main.mjs', program: MODULE },
  { name: 'Node as CommonJS', command: process.execPath, flags: [], file: 'main.cjs', program: COMMON_JS },
  { name: 'Deno', command: installed('deno'), flags: DENO, file: 'main.mjs', program: MODULE },
  { name: 'Bun', command: installed('bun'), flags: [], file: 'main.mjs', program: MODULE },
  { name: 'Bun as CommonJS', command: installed('bun'), flags: [], file: 'main.cjs', program: COMMON_JS },
];

describe('the package', () => {
  for (const { name, command, flags, file, program } of RUNTIMES) {
    const skip = !existsSync(command) && `${command} is not installed`;
    it(`works in ${name}`, { skip }, async (t) => {
      const { folder } = await installPackage(t);
      await cp(path.join(CLIENT, 'test', 'support', 'use.js'), path.join(folder, 'use.mjs'));
      await writeFile(path.join(folder, file), program);
      const { key } = await issueKey();
      const { stdout } = await promisify(execFile)(command, [...flags, file], {
        cwd: folder,
        env: { ...process.env, ANIMAL_STORE_URL: baseUrl, ANIMAL_STORE_KEY: key },
      });
      assert.deepEqual(JSON.parse(stdout), {
        categoryId: '9223372036854775807',
        walked: 1,
        parallel: 20,
        status: 200,
        windows: ['minute', 'day'],
        isNotFound: true,
        code: 'not_found',
      });
    });
  }
});
