import { readdir, readFile, readlink } from 'node:fs/promises';
import { createDatabase } from '../support/database/database.js';
import { until } from '../support/eventually.js';
import { send } from '../support/http/http.js';
import { issueKey } from '../support/keys/keys.js';
import { describeOnRedis, startRedis } from '../support/programs/redis.js';
import { ServiceProcess } from '../support/service/service-process.js';

const KEEP_ALIVE_TIMER = '02';
const TICKS_PER_SECOND = 100;

/** Returns the seconds to the next keep-alive probe of each connection of a process to a port, or null. */
async function secondsToProbe(pid: number, port: number): Promise<(number | null)[]> {
  const files = await readdir(`/proc/${pid}/fd`);
  const links = files.map((file) => readlink(`/proc/${pid}/fd/${file}`).catch(() => ''));
  const sockets = new Set(await Promise.all(links));
  const lines = (await readFile('/proc/net/tcp', 'latin1')).trim().split('\n').slice(1);
  return lines.flatMap((line) => {
    // proc(5): sl local_address rem_address st tx:rx tr:tm->when retrnsmt uid timeout inode
    const [, , remote = '', , , timer = '', , , , inode] = line.trim().split(/\s+/);
    const [kind, ticks = ''] = timer.split(':');
    const isOurs = sockets.has(`socket:[${inode}]`) && parseInt(remote.split(':')[1] ?? '', 16) === port;
    return isOurs ? [kind === KEEP_ALIVE_TIMER ? parseInt(ticks, 16) / TICKS_PER_SECOND : null] : [];
  });
}

(process.platform === 'linux' ? describeOnRedis : describe.skip)('connections of a service', () => {
  it('have a keep-alive of less than a minute, to PostgreSQL and to Redis', async () => {
    const [database, redis] = await Promise.all([createDatabase(), startRedis()]);
    const settings = { APP_ENV: 'staging', HOST: '127.0.0.1', DATABASE_URL: database.url };
    const services = ['', redis.url].map(
      (COUNTER_STORE_URL) => new ServiceProcess('main.js', { ...settings, COUNTER_STORE_URL }),
    );
    try {
      const { key } = await issueKey(database, { plan: 'free' });
      for (const service of services) {
        const url = await service.ready();
        expect((await send(`${url}/v1/pets`, { key })).status).toBe(200);
      }
      const expectKeptAlive = async (index: number, port: number) => {
        // A connection with unacknowledged data has another timer for some milliseconds.
        await until(async () => {
          const seconds = await secondsToProbe(services[index]!.pid, port);
          return seconds.length > 0 && seconds.every((each) => each !== null && each < 60);
        });
      };
      await expectKeptAlive(0, Number(new URL(database.url).port));
      await expectKeptAlive(1, Number(new URL(database.url).port));
      await expectKeptAlive(1, redis.port);
    } finally {
      await Promise.all(services.map((service) => service.kill('SIGKILL')));
      await redis.stop();
      await database.drop();
    }
  });
});
