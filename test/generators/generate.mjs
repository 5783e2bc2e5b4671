// Writes clients of the OpenAPI documents to .generated/: types by openapi-typescript, clients by @hey-api/openapi-ts and by orval.
// The argument is the service's address, which orval writes into its clients.

import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { generate } from 'orval';

const here = import.meta.dirname;
const address = process.argv[2];
/** The documents, and the addresses of their paths. */
const documents = { openapi: `${address}/v1`, 'admin-openapi': address };
const run = (program, ...args) =>
  execFileSync(path.join(here, 'node_modules', '.bin', program), args, { cwd: here, stdio: 'ignore' });

rmSync(path.join(here, '.generated'), { recursive: true, force: true });
for (const [name, baseUrl] of Object.entries(documents)) {
  const input = `../../${name}.json`;
  run('openapi-typescript', input, '--output', `.generated/openapi-typescript/${name}.ts`);
  run(
    'openapi-ts',
    '--input',
    input,
    '--output',
    `.generated/hey-api/${name}`,
    '--client',
    '@hey-api/client-fetch',
  );
  const output = { target: `.generated/orval/${name}.ts`, client: 'fetch', baseUrl };
  await generate({ input, output }, here);
}
