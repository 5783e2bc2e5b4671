// Writes clients of the OpenAPI documents to .generated/ by @hey-api/openapi-ts.

import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import path from 'node:path';

const here = import.meta.dirname;
const PROGRAM = path.join(here, 'node_modules', '.bin', 'openapi-ts');

rmSync(path.join(here, '.generated'), { recursive: true, force: true });
for (const name of ['openapi', 'admin-openapi']) {
  const args = ['--input', `../../${name}.json`, '--output', `.generated/${name}`];
  execFileSync(PROGRAM, [...args, '--client', '@hey-api/client-fetch'], { cwd: here, stdio: 'ignore' });
}
