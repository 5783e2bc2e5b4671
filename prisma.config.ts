import path from 'node:path';

import { defineConfig } from 'prisma/config';
import { toDriverAddress } from './prisma/database-address.mjs';
import { loadEnvFile } from './src/process/settings/env-file.js';
import { resolveSecretFiles } from './src/process/settings/secret-files.js';

const fromRoot = (...names: string[]) => path.join(import.meta.dirname, ...names);

const faults: string[] = [];
loadEnvFile(fromRoot('.env'), faults);

// The CLI would download a native engine before every command, even one that does not use it. Our script runs
// the same engine from npm. Windows cannot start a script as a program, so it keeps the download.
if (process.platform !== 'win32') {
  process.env.PRISMA_SCHEMA_ENGINE_BINARY ||= fromRoot('prisma', 'schema-engine.mjs');
}

// Addresses can come from files, as in the service. Prisma needs no other secret.
const addresses = Object.entries(process.env).filter(
  ([name, value]) => /^(DIRECT_)?DATABASE_URL(_FILE)?$/.test(name) && value !== '',
);
const { DATABASE_URL, DIRECT_DATABASE_URL } = resolveSecretFiles(Object.fromEntries(addresses), faults);
// Bypasses a pooler, because the engine's lock belongs to a session.
const address = DIRECT_DATABASE_URL ?? DATABASE_URL;
const url = address && toDriverAddress(address);
const needsDatabase = [
  /^migrate (deploy|dev|reset|resolve|status)\b/,
  /^migrate diff .*--(from|to)-(migrations|config-datasource)\b/,
  /^db (execute|pull|push)\b/,
];
const command = process.argv.slice(2).join(' ');
if (needsDatabase.some((pattern) => pattern.test(command))) {
  if (faults.length > 0) {
    throw new Error(faults.join('\n'));
  }
  if (url === undefined) {
    throw new Error(
      'DATABASE_URL is missing. Set it, or write it into .env: ' +
        'DATABASE_URL=postgresql://user:password@localhost:5432/animal_store',
    );
  }
}

export default defineConfig({
  schema: 'prisma/schema.prisma',
  migrations: { path: 'prisma/migrations', seed: 'npx jiti prisma/seed.ts' },
  ...(url && { datasource: { url } }),
});
