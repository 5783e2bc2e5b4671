import { appendFile, chown, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import pg from 'pg';
import { findPostgresPrograms } from '../../../src/embedded-postgres/server-config.js';
import type { Service } from './compose-file.js';
import { until } from '../../support/eventually.js';
import { Container } from './container.js';
import type { Network } from './network.js';

/** `postgres` of the official image. */
const USER = 999;
const PROGRAMS = '/mnt/postgres';
const PATIENCE_MS = 30_000;

interface Given {
  env: Record<string, string>;
  /** Secrets, by their paths in the container. */
  files: Record<string, string>;
  data: string;
}

/** Does what the official image of PostgreSQL does on an empty volume, by the embedded PostgreSQL. */
export async function postgresContainer(
  network: Network,
  name: string,
  service: Service,
  { env, files, data }: Given,
): Promise<Container> {
  const native = path.dirname(await findPostgresPrograms());
  const user = env['POSTGRES_USER'] ?? 'postgres';
  const secret = env['POSTGRES_PASSWORD_FILE'];
  const password =
    secret === undefined ? (env['POSTGRES_PASSWORD'] ?? '') : await readFile(files[secret] ?? '', 'utf8');
  const passwordFile = `${data}.password`;
  await writeFile(passwordFile, password);
  await chown(passwordFile, USER, USER);
  await chown(data, USER, USER);
  const inside = {
    network,
    service: name,
    root: '/',
    user: USER,
    tmpfs: ['/mnt', '/tmp'],
    folders: { '/mnt/data': data },
    files: { [PROGRAMS]: native, '/mnt/password': passwordFile },
  };
  const initdb = await Container.start({
    ...inside,
    command: [
      `${PROGRAMS}/bin/initdb`,
      '--pgdata=/mnt/data/cluster',
      `--username=${user}`,
      '--auth=scram-sha-256',
      '--pwfile=/mnt/password',
      '--encoding=UTF8',
      '--no-sync',
    ],
  });
  const { code, stderr } = await initdb.ended;
  if (code !== 0) {
    throw new Error(`initdb failed: ${stderr}`);
  }
  await appendFile(path.join(data, 'cluster/pg_hba.conf'), 'host all all all scram-sha-256\n');
  const [program = 'postgres', ...rest] = service.command ?? [];
  const container = await Container.start({
    ...inside,
    command: [
      `${PROGRAMS}/bin/${program}`,
      '-D',
      '/mnt/data/cluster',
      '-k',
      '/tmp',
      '-c',
      'listen_addresses=*',
      ...rest,
    ],
  });
  const superuser = {
    host: container.address,
    user,
    password: password.trim(),
    database: 'postgres',
    connectionTimeoutMillis: 2000,
  };
  const database = env['POSTGRES_DB'] ?? user;
  await until(async () => !container.isRunning || createDatabase(superuser, database), PATIENCE_MS);
  if (!container.isRunning) {
    throw new Error(`PostgreSQL ended: ${container.said}`);
  }
  return container;
}

/** Returns whether the server could be reached. */
async function createDatabase(superuser: pg.ClientConfig, database: string): Promise<boolean> {
  const client = new pg.Client(superuser);
  try {
    await client.connect();
  } catch {
    return false;
  }
  await client.query(`CREATE DATABASE ${pg.escapeIdentifier(database)}`);
  await client.end();
  return true;
}
