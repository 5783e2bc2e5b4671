import { existsSync } from 'node:fs';
import path from 'node:path';
import { locateProgram } from '../test/support/programs/programs.js';
import { hasDebianPostgres } from '../test/support/programs/debian-postgres.js';
import type { StoreName } from './options.js';
import { Refusal } from '../dev/refusal.js';
import { FAKETIME } from '../test/support/time/faketime.js';

const REDIS = { 'redis-server': 'redis-server' };
const VALKEY = { 'valkey-server': 'valkey-server' };
/** The programs that a store needs, by their Debian packages. */
const PROGRAMS: Record<StoreName, Record<string, string>> = {
  postgres: {},
  patroni: { patroni: 'patroni', 'etcd-server': 'etcd', haproxy: 'haproxy' },
  redis: REDIS,
  cluster: REDIS,
  sentinel: REDIS,
  valkey: VALKEY,
  'valkey-cluster': VALKEY,
};

/** @throws Refusal that names all that a run with this store lacks on this machine. */
export function requirePrograms(store: StoreName): void {
  requireMachine(PROGRAMS[store], FAKETIME === undefined ? ['faketime'] : []);
}

/**
 * @param programs by their Debian packages.
 * @param packages further ones that this machine lacks.
 * @throws Refusal that names all that it lacks of these programs, PostgreSQL and the built service.
 */
export function requireMachine(programs: Record<string, string>, packages: string[] = []): void {
  const missing = Object.entries(programs).flatMap(([name, program]) =>
    locateProgram(program) === undefined ? [name] : [],
  );
  if (!hasDebianPostgres) {
    missing.push('postgresql');
  }
  missing.push(...packages);
  if (missing.length > 0) {
    const hint = missing.includes('valkey-server') ? '\nDebian 12 has Valkey in bookworm-backports.' : '';
    throw new Refusal(`This machine lacks Debian packages: apt-get install ${missing.join(' ')}${hint}`);
  }
  if (!existsSync(path.join(import.meta.dirname, '..', 'dist', 'main.js'))) {
    throw new Refusal('The service is not built: npm run build');
  }
}
