import { existsSync } from 'node:fs';
import path from 'node:path';
import { findProgram } from '../test/support/programs/programs.js';
import { hasDebianPostgres } from '../test/support/database/debian-postgres.js';
import type { StoreName } from './options.js';
import { Refusal } from './refusal.js';
import { FAKETIME } from './stage/replica.js';

/** @throws Refusal that names all that a run with this store lacks on this machine. */
export function requirePrograms(store: StoreName): void {
  const needsRedis = store !== 'postgres';
  const packages = [
    ...(hasDebianPostgres ? [] : ['postgresql']),
    ...(needsRedis && findProgram('redis-server', 'redis-server') === undefined ? ['redis-server'] : []),
    ...(FAKETIME === undefined ? ['faketime'] : []),
  ];
  if (packages.length > 0) {
    throw new Refusal(`This machine lacks Debian packages: apt-get install ${packages.join(' ')}`);
  }
  if (!existsSync(path.join(import.meta.dirname, '..', 'dist', 'main.js'))) {
    throw new Refusal('The service is not built: npm run build');
  }
}
