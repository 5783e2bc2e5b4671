import { setTimeout as pause } from 'node:timers/promises';
import type { IssuedKey } from '../../src/keys/key.schemas.js';
import { createDatabase, type TestDatabase } from '../support/database/database.js';
import { type DatabaseProxy, startDatabaseProxy } from '../support/programs/database-proxy.js';
import { type HttpResponse, send } from '../support/http/http.js';
import { issueKey, UNLIMITED } from '../support/keys/keys.js';
import type { ServiceProcess } from '../support/service/service-process.js';
import { ServiceProcesses } from '../support/service/service-processes.js';
import { staleness } from './staleness.js';
import { until } from '../support/eventually.js';

const PROMISE_MS = 1000;
const ROUNDS = 3;

describe('two replicas with separate connections for changes of keys', () => {
  let database: TestDatabase;
  let proxy: DatabaseProxy;
  const services = new ServiceProcesses();
  let replicas: ServiceProcess[];
  let urls: string[];

  beforeAll(async () => {
    database = await createDatabase();
    proxy = await startDatabaseProxy(database.url, 'animal-store key changes');
    const settings = { DATABASE_URL: database.url, DIRECT_DATABASE_URL: proxy.url, LOG_LEVEL: 'warn' };
    replicas = [services.start(settings), services.start(settings)];
    urls = await Promise.all(replicas.map((replica) => replica.listening()));
  });
  afterAll(async () => {
    await services.end('SIGTERM');
    proxy.close();
    await database.drop();
  });

  /** Issues a key, and uses it at all replicas for longer than they take to receive changes again. */
  async function useNewKey(): Promise<IssuedKey> {
    const issued = await issueKey(database, UNLIMITED);
    const end = performance.now() + 500 + Math.random() * 300;
    while (performance.now() < end) {
      const responses = await Promise.all(urls.map((url) => send(`${url}/v1/pets`, { key: issued.key })));
      expect(responses.map(({ status }) => status)).toEqual([200, 200]);
    }
    return issued;
  }

  /** Revokes the key by SQL; returns for how many milliseconds each replica still accepted it. */
  async function stalenessOfRevocation({ id, key }: IssuedKey): Promise<number[]> {
    await database.query('UPDATE api_keys SET revoked_at = now() WHERE id = $1', [id]);
    const isServed = ({ status }: HttpResponse) => status === 200;
    const ended = await Promise.all(urls.map((url) => staleness(url, key, isServed)));
    expect(ended.map(({ response }) => response.status)).toEqual([401, 401]);
    return ended.map(({ staleMs }) => staleMs);
  }

  it('apply a revocation within a second while these connections are frozen', async () => {
    const timesRestored = () => replicas.map(({ stdout }) => stdout.split('received again').length - 1);
    const measuredMs: number[] = [];
    for (let round = 1; round <= ROUNDS; round += 1) {
      const issued = await useNewKey();
      const before = timesRestored();
      proxy.hang();
      measuredMs.push(...(await stalenessOfRevocation(issued)));
      // Frozen for longer than an echo may take.
      await pause(1000);
      await proxy.comeBack();
      // A slow machine may have lost and restored them once more before.
      await until(() => timesRestored().every((times, replica) => times > (before[replica] ?? 0)));
    }
    expect(Math.max(...measuredMs)).toBeLessThan(PROMISE_MS);
    // Otherwise no replica had a cached key, and the test measured nothing.
    expect(Math.max(...measuredMs)).toBeGreaterThan(200);
  });

  it('reject a revoked key when a process continues that was stopped during the revocation', async () => {
    const [sleeper] = replicas as [ServiceProcess];
    for (let round = 0; round < ROUNDS; round += 1) {
      const issued = await useNewKey();
      process.kill(sleeper.pid, 'SIGSTOP');
      try {
        await database.query('UPDATE api_keys SET revoked_at = now() WHERE id = $1', [issued.id]);
        await pause(PROMISE_MS);
        const first = send(`${urls[0]}/v1/pets`, { key: issued.key });
        // The request arrives before any message of the database is read.
        await pause(50);
        process.kill(sleeper.pid, 'SIGCONT');
        expect((await first).status).toBe(401);
      } finally {
        process.kill(sleeper.pid, 'SIGCONT');
      }
    }
  });
});
