import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, open, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Logger } from '@nestjs/common';
import { OperatorError } from '../../../process/operator-error.js';
import type { HostMessage } from './host.js';

/**
 * A PostgreSQL server with its superuser's URL. It stops with this process; one that was left behind is taken
 * over by the next start.
 */
interface EmbeddedPostgres {
  readonly url: string;
  stop(): Promise<void>;
}

const logger = new Logger('EmbeddedPostgres');
const CLUSTER = 'postgres';
/** The file with the URL of the last start, which other accounts cannot read. */
const URL_FILE = 'animal_store.url';

/** What to do for each reason, without a loss of data. */
const ADVICE: [reason: RegExp, advice: string][] = [
  [/in use by another animal-store/, 'Stop that process, or set DATA_DIR and PORT for this one.'],
  [/EEXIST|ENOTDIR/, 'DATA_DIR must be a folder: set it to another one.'],
  [/database files are incompatible/, 'For data of another major version see docs/upgrading.md.'],
  [
    /EACCES|EPERM|setpriv|permission denied|wrong ownership/i,
    'Run the service as the user who first started it there (root needs setpriv), or set DATA_DIR or ' +
      'DATABASE_URL.',
  ],
];
const OTHER_ADVICE =
  'Once that is fixed, the data is there as before. To start with empty data meanwhile, set DATA_DIR to ' +
  'another folder.';

/**
 * PostgreSQL, which does not run as root, keeps one capability of root: to pass through folders such as
 * /root.
 */
const AS_ROOT = ['--securebits=+no_setuid_fixup', '--inh-caps=+dac_override', '--ambient-caps=+dac_override'];

/**
 * Starts the PostgreSQL of a data folder, which is created if it does not exist. A server that ends by itself
 * is started again, on the same port.
 *
 * @throws OperatorError if another process owns the server, or it cannot be started; the message says
 *   what to do.
 */
export async function startEmbeddedPostgres(dataDir: string): Promise<EmbeddedPostgres> {
  try {
    await mkdir(dataDir, { recursive: true, mode: 0o700 });
    const host = await forkHost(resolve(dataDir));
    const ended = once(host, 'exit').then(([code]) => ({ failure: `exit code ${code}, see postgres.log` }));
    const reply = await Promise.race([
      once(host, 'message').then(([message]) => message as HostMessage),
      ended,
    ]);
    if ('failure' in reply) {
      host.kill('SIGKILL');
      throw new Error(reply.failure);
    }
    host.on('message', logMessage).once('disconnect', logEnd);
    const stop = async () => {
      host.off('disconnect', logEnd);
      if (host.connected) {
        host.disconnect();
      }
      await ended;
    };
    return { url: reply.url, stop };
  } catch (cause) {
    const reason = (cause as Error).message;
    const [, advice] = ADVICE.find(([pattern]) => pattern.test(reason)) ?? ['', OTHER_ADVICE];
    const message = `The embedded PostgreSQL in ${dataDir} cannot be used: ${reason}\n${advice}`;
    throw new OperatorError(message, { cause });
  }
}

/** Forks the host in a session of its own, where Ctrl-C does not reach it before the service has stopped. */
async function forkHost(dataDir: string): Promise<ChildProcess> {
  await using log = await open(join(dataDir, 'postgres.log'), 'a', 0o600);
  const { PATH, SystemRoot, LD_LIBRARY_PATH } = process.env;
  return fork(fileURLToPath(new URL('./host.js', import.meta.url)), [join(dataDir, CLUSTER), URL_FILE], {
    cwd: dataDir,
    detached: true,
    // It has neither the secrets of the service nor PG… variables, which configure the programs. initdb keeps
    // TZ as a setting.
    env: { PATH, SystemRoot, LD_LIBRARY_PATH, LC_ALL: 'C', TZ: 'UTC' },
    stdio: ['ignore', log.fd, log.fd, 'ipc'],
    execArgv: [],
    ...(process.getuid?.() === 0 && { execPath: 'setpriv', execArgv: [...AS_ROOT, process.execPath] }),
  });
}

function logMessage(message: HostMessage): void {
  if ('failure' in message) {
    logger.error(`The embedded PostgreSQL cannot be restarted: ${message.failure}`);
  } else {
    logger.warn('The embedded PostgreSQL ended and was restarted');
  }
}

function logEnd(): void {
  logger.error('The process that restarts the embedded PostgreSQL has ended. Restart the service.');
}

/** Returns the URL of the PostgreSQL that runs in a data folder, whichever process owns it, else null. */
export async function findEmbeddedPostgres(dataDir: string): Promise<string | null> {
  const cluster = join(dataDir, CLUSTER);
  const isRunning = existsSync(join(cluster, 'postmaster.pid'));
  return isRunning ? readFile(join(cluster, URL_FILE), 'utf8') : null;
}
