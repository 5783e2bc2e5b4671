// `node apply-migrations.mjs DATABASE_URL [FOLDER]`: a process that applies the pending migrations and prints their names.

import path from 'node:path';
import { pathToFileURL } from 'node:url';

const built = path.resolve(import.meta.dirname, '..', '..', '..', 'dist', 'database', 'migrations.js');
const { applyPendingMigrations } = await import(pathToFileURL(built).href);
console.log(JSON.stringify(await applyPendingMigrations(...process.argv.slice(2))));
