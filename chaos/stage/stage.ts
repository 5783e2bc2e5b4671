import { type Build, THIS_BUILD } from '../../dev/release/build.js';
import { startDatabaseProxy } from '../../test/support/programs/database-proxy.js';
import { freePort } from '../../test/support/programs/free-port.js';
import type { Options, StoreName } from '../options.js';
import { COUNTER_STORES, type Link } from './counter-stores.js';
import type { Failover, FailoverGroup } from './failover-watch.js';
import { Guard } from './guard.js';
import { PatroniServers } from './patroni-servers.js';
import { PostgresServer } from './postgres-server.js';
import { Replica } from './replica.js';
import { runCommand, seedDatabase } from './seed.js';
import type { DatabaseServer, Server } from './server.js';

const DATABASE = 'animal_store';

/** Short, so that a run sees many bans and their ends. */
export const BAN_DURATIONS_S = [5, 10, 20];

/** The service as an operator runs it, with bans that are short enough to see many. */
export const SETTINGS = {
  NODE_ENV: 'production',
  APP_ENV: 'staging',
  HOST: '127.0.0.1',
  SHUTDOWN_DELAY: '0',
  LOG_LEVEL: 'error',
  BAN_DURATIONS: BAN_DURATIONS_S.map((seconds) => `${seconds}s`).join(','),
};

/** All that a run starts beside its clients. */
export class Stage {
  private readonly guard = new Guard();
  replicas: Replica[] = [];
  servers: Server[] = [];
  links: Link[] = [];
  /** The address of the database, past all links. */
  databaseUrl = '';

  /**
   * Starts all of it.
   *
   * @param build what the replicas run first; it makes the tables.
   * @returns the administrator's key.
   */
  async start({ replicas: count, store }: Options, build: Build): Promise<string> {
    const names = Array.from({ length: count }, (_, index) => `replica-${index + 1}`);
    const postgres = await this.startDatabase(store);
    const adminKey = await seedDatabase((name) => postgres.url(name), DATABASE, SETTINGS, build);
    this.databaseUrl = postgres.url(DATABASE);
    const counters = await COUNTER_STORES[store](names, this.guard);
    this.servers.push(...counters.servers);
    this.links.push(...counters.links);
    for (const [index, name] of names.entries()) {
      const proxy = await startDatabaseProxy(this.databaseUrl);
      this.links.push({ name: `${name}:postgres`, proxy });
      const settings = {
        ...SETTINGS,
        DATABASE_URL: proxy.url,
        COUNTER_STORE_URL: counters.addresses[index] ?? '',
      };
      const port = await freePort();
      this.replicas.push(Object.assign(new Replica(name, port, settings, this.guard), { build }));
    }
    await Promise.all(this.replicas.map((replica) => replica.start()));
    return adminKey;
  }

  /** Brings the database to the schema of this tree, while replicas serve. */
  async migrate(): Promise<void> {
    await runCommand(THIS_BUILD, { ...SETTINGS, DATABASE_URL: this.databaseUrl }, 'migrate');
  }

  /** The servers that have a standby or replica, which can take over. */
  get groups(): FailoverGroup[] {
    return this.servers.filter((server): server is Server & FailoverGroup => 'failOver' in server);
  }

  /** Waits until all that fails over is whole again. Returns the failovers since the last call. */
  async settle(): Promise<Failover[]> {
    return (await Promise.all(this.groups.map((group) => group.settle()))).flat();
  }

  /** Ends and removes all of it, in whichever state a fault left it. */
  async close(): Promise<void> {
    await Promise.all(this.replicas.map((replica) => replica.end('SIGKILL')));
    this.links.forEach(({ proxy }) => proxy.close());
    await Promise.all(this.servers.map((server) => server.close()));
    this.guard.close();
  }

  private async startDatabase(store: StoreName): Promise<DatabaseServer> {
    if (store !== 'patroni') {
      const postgres = await PostgresServer.create(this.guard);
      this.servers.push(postgres);
      return postgres;
    }
    const servers = await PatroniServers.create(this.guard);
    this.servers.push(servers);
    this.links.push(servers);
    return servers;
  }
}
