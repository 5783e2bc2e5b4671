import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { startEmbeddedPostgres } from '../../src/embedded-postgres/embedded-postgres.js';

export interface OwnPostgres {
  url: string;
  /** Stops all of its processes with SIGSTOP. The kernel still accepts connections, but nothing responds. */
  freeze(): Promise<void>;
  goOn(): void;
  stop(): Promise<void>;
}

/** Starts a PostgreSQL for one test, with an empty database. */
export async function startOwnPostgres(): Promise<OwnPostgres> {
  const folder = await mkdtemp(path.join(tmpdir(), 'own-postgres-'));
  const postgres = await startEmbeddedPostgres(folder);
  let frozen: number[] = [];
  const goOn = () => frozen.splice(0).forEach((pid) => process.kill(pid, 'SIGCONT'));
  return {
    url: postgres.url,
    freeze: async () => {
      const postmaster = Number(
        (await readFile(path.join(folder, 'postgres', 'postmaster.pid'), 'utf8')).split('\n')[0],
      );
      const client = new pg.Client({ connectionString: postgres.url });
      await client.connect();
      const { rows } = await client.query<{ pid: number }>(
        'SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid()',
      );
      await client.end();
      frozen = [postmaster, ...rows.map(({ pid }) => pid)];
      frozen.forEach((pid) => process.kill(pid, 'SIGSTOP'));
    },
    goOn,
    stop: async () => {
      goOn();
      await postgres.stop();
      await rm(folder, { recursive: true });
    },
  };
}
