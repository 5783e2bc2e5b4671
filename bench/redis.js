import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import getPort, { portNumbers } from 'get-port';
import { promisify } from 'node:util';

/** The bus of a Cluster has the port 10,000 above that of its server. */
const PORTS = [20_000, 30_000];

/** Starts a Redis that writes nothing to disk, with further settings. */
export async function startRedis(settings = []) {
  const port = await getPort({ host: '127.0.0.1', port: portNumbers(...PORTS) });
  const args = [
    '--bind',
    '127.0.0.1',
    '--port',
    String(port),
    '--save',
    '',
    '--appendonly',
    'no',
    ...settings,
  ];
  const child = spawn('redis-server', args, { stdio: ['ignore', 'pipe', 'ignore'] });
  const ended = once(child, 'exit');
  await new Promise((resolve, reject) => {
    let log = '';
    child.once('error', reject).once('exit', () => reject(new Error(`redis-server ended:\n${log}`)));
    child.stdout.setEncoding('utf8').on('data', (text) => {
      log += text;
      if (log.includes('Ready to accept connections')) {
        resolve();
      }
    });
  });
  return {
    url: `redis://127.0.0.1:${port}`,
    pids: [child.pid],
    async stop() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/**
 * Starts a Cluster of three masters without replicas.
 *
 * @param {string} folder for the file that each master keeps of it.
 */
export async function startCluster(folder) {
  const masters = [];
  const stop = async () => {
    await Promise.all(masters.map((master) => master.stop()));
  };
  try {
    for (const name of ['redis-1', 'redis-2', 'redis-3']) {
      const files = ['--dir', folder, '--cluster-config-file', `${name}.conf`];
      masters.push(await startRedis(['--cluster-enabled', 'yes', ...files]));
    }
    const addresses = masters.map(({ url }) => new URL(url).host);
    await promisify(execFile)('redis-cli', ['--cluster', 'create', ...addresses, '--cluster-yes']);
  } catch (error) {
    await stop();
    throw error;
  }
  const url = masters.map((master) => master.url).join(',');
  return { url, pids: masters.flatMap(({ pids }) => pids), stop };
}
