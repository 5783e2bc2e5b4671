import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { handOver, runPostgresCommand } from './postgres-command.js';
import { HOST } from './postmaster-pid.js';
import type { ServerConfig } from './server-config.js';

const SUPERUSER = 'postgres';
const PASSWORD_FILE = 'animal_store.password';
const STAGE_PREFIX = '.postgres-in-the-making-';

/** Sorts and changes case in the same way on every machine. */
const LOCALE = ['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--encoding=UTF8'];

/** Returns the URL of a database, with the random password of the superuser. Other accounts cannot read its file. */
export async function urlOf(clusterFolder: string, port: number, database: string): Promise<string> {
  const password = await readFile(join(clusterFolder, PASSWORD_FILE), 'utf8');
  // Overrides a PGSSLMODE that is meant for another server.
  return `postgresql://${SUPERUSER}:${password}@${HOST}:${port}/${database}?sslmode=disable`;
}

/**
 * Creates the cluster if it does not exist. Leaves a folder with other contents as it is; pg_ctl then reports it.
 *
 * @throws EmbeddedPostgresError if initdb fails.
 */
export async function ensureCluster(config: ServerConfig): Promise<void> {
  const { account, clusterFolder } = config;
  const isCluster = () => existsSync(join(clusterFolder, 'PG_VERSION'));
  if (!isCluster()) {
    await createCluster(config);
  }
  await removeStages(config);
  if (account !== null && isCluster() && (await stat(clusterFolder)).uid !== account.uid) {
    // A copy that root made. The folder itself is last, so that an interrupted change of owner starts again.
    for (const name of [...(await readdir(clusterFolder, { recursive: true })), '']) {
      await handOver(join(clusterFolder, name), config);
    }
  }
}

/** Runs initdb in a temporary folder and renames the result into place, so that a cluster is always complete and has its password. */
async function createCluster(config: ServerConfig): Promise<void> {
  const { clusterFolder, dataFolder } = config;
  const stage = await mkdtemp(join(dataFolder, STAGE_PREFIX));
  const passwordFile = join(stage, PASSWORD_FILE);
  const created = join(stage, 'cluster');
  try {
    await writeFile(passwordFile, randomBytes(24).toString('base64url'), { mode: 0o600 });
    await handOver(stage, config);
    await handOver(passwordFile, config);
    const access = [`--username=${SUPERUSER}`, `--pwfile=${passwordFile}`, '--auth=scram-sha-256'];
    await runPostgresCommand(config, 'initdb', [`--pgdata=${created}`, ...access, ...LOCALE]);
    await rename(passwordFile, join(created, PASSWORD_FILE));
    await rename(created, clusterFolder);
  } catch (error) {
    // Otherwise another process has created the cluster first, and has removed this stage.
    if (!existsSync(clusterFolder)) {
      throw error;
    }
  } finally {
    await rm(stage, { recursive: true, force: true });
  }
}

/** Removes the stages of other processes. If the initdb of a killed one still writes there, the next start removes the rest. */
async function removeStages({ dataFolder }: ServerConfig): Promise<void> {
  const stages = (await readdir(dataFolder)).filter((name) => name.startsWith(STAGE_PREFIX));
  for (const name of stages) {
    await rm(join(dataFolder, name), { recursive: true, force: true }).catch(() => undefined);
  }
}
