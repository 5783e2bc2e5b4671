// `node apply-migrations.mjs DATABASE_URL`: a process that applies the pending migrations and prints their names.
// Node 20 runs no TypeScript, so the source is compiled here, to a folder as deep in the project as its own.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

import { transformFile } from '@swc/core';

const root = path.resolve(import.meta.dirname, '..', '..');
const source = path.join(root, 'src', 'database', 'migrations.ts');

// Two levels below the root, as `import.meta.dirname` and the engine are looked up from there.
const folder = await mkdtemp(path.join(root, 'node_modules', '.compiled-'));
try {
  const { code } = await transformFile(source, {
    jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
  });
  const compiled = path.join(folder, 'migrations.mjs');
  await writeFile(compiled, code);
  const { applyPendingMigrations } = await import(pathToFileURL(compiled).href);
  console.log(JSON.stringify(await applyPendingMigrations(process.argv[2])));
} finally {
  await rm(folder, { recursive: true });
}
