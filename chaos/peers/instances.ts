import { randomUUID } from 'node:crypto';
import net from 'node:net';
import pg from 'pg';
import { send } from '../../test/support/http/http.js';
import { listChildren, signal } from '../../test/support/programs/debian-postgres.js';
import { freePort } from '../../test/support/programs/free-port.js';
import { type Program, startProgram } from '../../test/support/programs/programs.js';
import type { Guard } from '../stage/guard.js';
import { Replica } from '../stage/replica.js';
import { seedDatabase } from '../stage/seed.js';
import { READY_DEADLINE_MS } from '../stage/server.js';
import { SETTINGS } from '../stage/stage.js';
import type { Launch, Peer, PeerStore } from './peers.js';
import type { Store } from './stores.js';

export type Stores = Partial<Record<PeerStore, Store>>;

/** One of the two instances of a limiter, which keeps its port. */
interface Instance {
  port: number;
  start(): Promise<void>;
  kill(): Promise<void>;
  /** Starts it again if a failure has ended it. */
  revive(): Promise<void>;
}

/** A limiter that runs, and how clients get a key that it has not counted yet. */
export interface RunningPeer {
  instances: [Instance, Instance];
  issueKey(): Promise<string>;
}

type Ports = [number, number];

/** As all peers have it. */
const PRIORITY = 0;
/** What `prisma db push` creates. */
const PRISMA_TABLE =
  'CREATE TABLE "RateLimiterFlexible" (key text PRIMARY KEY, points integer NOT NULL, expire timestamp(3))';

/** Starts both instances of a limiter. */
export async function startPeer(
  name: string,
  peer: Peer,
  stores: Stores,
  guard: Guard,
): Promise<RunningPeer> {
  const { launch, store } = peer;
  const ports: Ports = [await freePort(), await freePort()];
  const database = name.replaceAll('-', '_');
  const running =
    launch === undefined
      ? await prepareService(database, store, ports, stores, guard)
      : await prepareProgram(name, database, { ...peer, launch }, ports, stores, guard);
  await Promise.all(running.instances.map((instance) => instance.start()));
  return running;
}

async function prepareProgram(
  name: string,
  database: string,
  { launch, store }: Peer & Required<Pick<Peer, 'launch'>>,
  ports: Ports,
  stores: Stores,
  guard: Guard,
): Promise<RunningPeer> {
  if (store === 'postgres') {
    await createDatabase(stores, database);
  }
  const url = (store !== null && stores[store]?.url(database)) || '';
  const peerPorts: Ports = [await freePort(), await freePort()];
  const instance = (index: 0 | 1) => {
    const command = launch({ port: ports[index], index, peerPorts, url });
    return new ProgramInstance(`${name}-${index}`, ports[index], command, guard);
  };
  return { instances: [instance(0), instance(1)], issueKey: async () => randomUUID() };
}

/** Prepares replicas of the service as the fault tests have them, without bans, which would hide excess. */
async function prepareService(
  database: string,
  store: PeerStore | null,
  ports: Ports,
  stores: Stores,
  guard: Guard,
): Promise<RunningPeer> {
  const url = (name: string) => stores.postgres?.url(name) ?? '';
  const settings = {
    ...SETTINGS,
    BAN_DURATIONS: '',
    DATABASE_URL: url(database),
    COUNTER_STORE_URL: store === 'redis' ? (stores.redis?.url() ?? '') : '',
  };
  const administrator = await seedDatabase(url, database, SETTINGS);
  const instance = (index: 0 | 1) => {
    const replica = new Replica(`${database}-${index}`, ports[index], settings, guard, PRIORITY);
    return {
      port: ports[index],
      start: () => replica.start(),
      kill: () => replica.end('SIGKILL'),
      revive: async () => {}, // No failure ends it.
    };
  };
  const issueKey = async () => {
    const body = { name: 'peers', plan: 'free' };
    const address = `http://127.0.0.1:${ports[0]}/admin/keys`;
    const { status, json } = await send(address, { method: 'POST', key: administrator, body });
    if (status !== 201) {
      throw new Error(`No key was issued: ${JSON.stringify(json)}`);
    }
    return (json as { key: string }).key;
  };
  return { instances: [instance(0), instance(1)], issueKey };
}

async function createDatabase(stores: Stores, name: string): Promise<void> {
  const run = async (database: string, sql: string) => {
    const client = new pg.Client(stores.postgres?.url(database));
    await client.connect();
    await client.query(sql);
    await client.end();
  };
  await run('postgres', `CREATE DATABASE ${name}`);
  await run(name, PRISMA_TABLE);
}

class ProgramInstance implements Instance {
  private program: Program | null = null;

  constructor(
    private readonly name: string,
    readonly port: number,
    private readonly launch: Launch,
    private readonly guard: Guard,
  ) {}

  async start(): Promise<void> {
    const { command, files = {} } = this.launch;
    this.program = await startProgram(command, files, () => accepts(this.port), READY_DEADLINE_MS);
    this.guard.watch(this.name, this.program.process.pid ?? NaN);
  }

  async revive(): Promise<void> {
    const { exitCode = 0, signalCode = null } = this.program?.process ?? {};
    if (exitCode !== null || signalCode !== null) {
      await this.start();
    }
  }

  async kill(): Promise<void> {
    this.guard.forget(this.name);
    // The workers of nginx do not end with it.
    const children = await listChildren(this.program?.process.pid ?? NaN).catch(() => []);
    await this.program?.stop('SIGKILL');
    children.forEach((child) => signal(child, 'SIGKILL'));
  }
}

/** Returns whether a server accepts connections. It gets no request, because a limiter would count that. */
function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}
