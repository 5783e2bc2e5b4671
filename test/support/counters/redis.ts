import { Redis } from 'ioredis';
import { until } from '../eventually.js';
import { type DatabaseProxy, startDatabaseProxy } from '../database/database-proxy.js';
import { freePort } from '../programs/free-port.js';
import { findProgram, type Program, startProgram } from '../programs/programs.js';

export interface RedisServer {
  url: string;
  port: number;
  pid: number;
  /** A connection for the test's own commands, as an operator would have. */
  operator: Redis;
  /** Stops the process with SIGSTOP, so that it hangs. */
  pause(): void;
  goOn(): void;
  stop(): Promise<void>;
}

/** Returns whether this machine has a Redis server. Without one, its tests are skipped with a message; in CI they fail. */
export const hasRedis = () => findProgram('redis-server', 'redis-server') !== undefined;

/** Starts a server that stores nothing on disk, on a free port unless one is given. */
export async function startRedis(
  settings: Record<string, string> = {},
  onPort?: number,
  deadlineMs?: number,
): Promise<RedisServer> {
  const port = onPort ?? (await freePort());
  const all = { bind: '127.0.0.1', port: String(port), save: '', appendonly: 'no', ...settings };
  const operator = new Redis({
    port,
    host: '127.0.0.1',
    lazyConnect: true,
    retryStrategy: () => null,
    ...(settings['requirepass'] !== undefined && { password: settings['requirepass'] }),
  });
  operator.on('error', () => {});
  const isReady = () =>
    operator.connect().then(
      () => true,
      () => false,
    );
  const command = ['redis-server', ...Object.entries(all).flatMap(([name, value]) => [`--${name}`, value])];
  const server = await startProgram(command, {}, isReady, deadlineMs).catch((error: unknown) => {
    operator.disconnect();
    throw error;
  });
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    pid: server.process.pid ?? NaN,
    operator,
    pause: () => server.process.kill('SIGSTOP'),
    goOn: () => server.process.kill('SIGCONT'),
    stop: () => {
      operator.disconnect();
      return server.stop('SIGKILL');
    },
  };
}

/**
 * Starts three masters without replicas, each with a third of the slots.
 *
 * @param settingsOf returns further settings of a master, by its port and the port of its bus.
 */
export async function startRedisCluster(
  settingsOf: (port: number, busPort: number) => Promise<Record<string, string>> = async () => ({}),
): Promise<{ masters: RedisServer[]; stop(): Promise<void> }> {
  const masters: RedisServer[] = [];
  const stop = async () => {
    await Promise.all(masters.map((master) => master.stop()));
  };
  try {
    await formCluster(masters, settingsOf);
  } catch (error) {
    await stop();
    throw error;
  }
  return { masters, stop };
}

/** Starts the masters, and adds each to `masters`. */
async function formCluster(
  masters: RedisServer[],
  settingsOf: (port: number, busPort: number) => Promise<Record<string, string>>,
): Promise<void> {
  const SLOTS = 16_384;
  const busPorts: number[] = [];
  for (let index = 0; index < 3; index += 1) {
    const [port, busPort] = [await freePort(), await freePort()];
    busPorts.push(busPort);
    // The bus has by default a port 10,000 above, which a free port of this machine may not have.
    const settings = { 'cluster-enabled': 'yes', 'cluster-port': String(busPort) };
    masters.push(await startRedis({ ...settings, ...(await settingsOf(port, busPort)) }, port));
  }
  const [first, ...others] = masters as [RedisServer, ...RedisServer[]];
  for (const [index, { operator }] of masters.entries()) {
    const [from, to] = [index, index + 1].map((third) => Math.floor((third * SLOTS) / masters.length));
    await operator.call('CLUSTER', 'SET-CONFIG-EPOCH', index + 1);
    await operator.call('CLUSTER', 'ADDSLOTSRANGE', from as number, (to as number) - 1);
  }
  for (const [index, { port }] of others.entries()) {
    await first.operator.call('CLUSTER', 'MEET', '127.0.0.1', port, busPorts[index + 1] as number);
  }
  await until(async () => {
    const infos = await Promise.all(masters.map(({ operator }) => operator.call('CLUSTER', 'INFO')));
    return infos.every((info) => /cluster_state:ok[^]*cluster_known_nodes:3/.test(String(info)));
  }, 30_000);
}

/** A master, two replicas and three Sentinels. Servers are reached through proxies, which can cut them off from everybody. */
export interface SentinelGroup {
  /** The setting `COUNTER_STORE`. */
  url: string;
  /** Returns the process of each server and each Sentinel, by its name and port. */
  processes(): Map<string, number>;
  /** Returns the port of the master, by the Sentinels. */
  masterPort(): Promise<number>;
  /** Returns the server that Sentinels know by this port. */
  at(port: number): { server: RedisServer; address: DatabaseProxy };
  /** Kills a server, and starts it as a replica. */
  kill(port: number): Promise<void>;
  restart(port: number): Promise<void>;
  /** Ends all connections of a server that was cut off, and has others reach it again. */
  connectAgain(port: number): Promise<void>;
  /** Has the Sentinels replace a master that works. */
  failOver(): Promise<unknown>;
  /** Runs `callback` whenever a Sentinel is about to make a replica the master. */
  onFailover(callback: () => void): Promise<void>;
  /** Returns whether the master has a replica, without which it rejects writes. */
  acceptsWrites(): Promise<boolean>;
  /** Waits until a master has both replicas, and all Sentinels know that. */
  settle(deadlineMs?: number): Promise<void>;
  stop(): Promise<void>;
}

const MASTER_NAME = 'animal-store';
const SENTINELS = 3;

/** Starts a group whose Sentinels replace a master that is silent for a second. Servers and Sentinels have this password. */
export async function startSentinels(password: string): Promise<SentinelGroup> {
  const group = new RedisWithSentinels(password);
  try {
    await group.start();
  } catch (error) {
    await group.stop();
    throw error;
  }
  return group;
}

class RedisWithSentinels implements SentinelGroup {
  /** By the port under which Sentinels know them. */
  private readonly servers = new Map<number, { server: RedisServer; address: DatabaseProxy }>();
  private readonly sentinels: { port: number; client: Redis; program: Program }[] = [];
  private readonly subscribers: Redis[] = [];

  constructor(private readonly password: string) {}

  get url(): string {
    const hosts = this.sentinels.map(({ port }) => `127.0.0.1:${port}`);
    return `redis+sentinel://:${encodeURIComponent(this.password)}@${hosts.join(',')}/${MASTER_NAME}`;
  }

  private get sentinel(): Redis {
    return (this.sentinels[0] as { client: Redis }).client;
  }

  async start(): Promise<void> {
    for (let index = 0; index < 3; index += 1) {
      const port = await freePort();
      const address = await startDatabaseProxy(`redis://127.0.0.1:${port}`);
      const known = Number(new URL(address.url).port);
      const [master] = this.servers.keys();
      this.servers.set(known, { server: await this.startServer(port, known, master), address });
    }
    await Promise.all(Array.from({ length: SENTINELS }, () => this.startSentinel()));
    await this.settle();
  }

  processes(): Map<string, number> {
    return new Map([
      ...[...this.servers].map(([port, { server }]) => [`server ${port}`, server.pid] as const),
      ...this.sentinels.map(({ port, program }) => [`sentinel ${port}`, program.process.pid ?? NaN] as const),
    ]);
  }

  async masterPort(): Promise<number> {
    const [, port] = (await this.sentinel.call(
      'SENTINEL',
      'GET-MASTER-ADDR-BY-NAME',
      MASTER_NAME,
    )) as string[];
    return Number(port);
  }

  at(port: number) {
    return this.servers.get(port) as { server: RedisServer; address: DatabaseProxy };
  }

  async kill(port: number): Promise<void> {
    this.at(port).address.goAway();
    await this.at(port).server.stop();
  }

  async restart(port: number): Promise<void> {
    const entry = this.at(port);
    entry.server = await this.startServer(entry.server.port, port, await this.masterPort());
    await entry.address.comeBack();
  }

  async connectAgain(port: number): Promise<void> {
    this.at(port).address.goAway();
    await this.at(port).address.comeBack();
  }

  failOver(): Promise<unknown> {
    return this.sentinel.call('SENTINEL', 'FAILOVER', MASTER_NAME);
  }

  async onFailover(callback: () => void): Promise<void> {
    for (const { client } of this.sentinels) {
      const subscriber = client.duplicate();
      this.subscribers.push(subscriber);
      subscriber.on('message', callback).on('error', () => {});
      await subscriber.subscribe('+failover-state-send-slaveof-noone');
    }
  }

  async acceptsWrites(): Promise<boolean> {
    const { operator } = this.at(await this.masterPort()).server;
    // Sentinels close the connections of a server that they promote.
    if (operator.status === 'end') {
      await operator.connect();
    }
    return /min_slaves_good_slaves:[1-9]/.test(await operator.info('replication'));
  }

  settle(deadlineMs = 30_000): Promise<void> {
    return until(async () => {
      const states = await Promise.all(this.sentinels.map(({ client }) => sentinelState(client)));
      return states.every(({ isWhole, master }) => isWhole && master === states[0]?.master);
    }, deadlineMs);
  }

  async stop(): Promise<void> {
    [...this.sentinels.map(({ client }) => client), ...this.subscribers].forEach((each) => each.disconnect());
    await Promise.all(this.sentinels.map(({ program }) => program.stop('SIGKILL')));
    for (const { server, address } of this.servers.values()) {
      address.close();
      await server.stop();
    }
  }

  private startServer(port: number, announced: number, master: number | undefined): Promise<RedisServer> {
    return startRedis(
      {
        'replica-announce-ip': '127.0.0.1',
        'replica-announce-port': String(announced),
        // A replica connects to its master anew within a second.
        'repl-ping-replica-period': '1',
        'min-replicas-to-write': '1',
        ...(master !== undefined && { replicaof: `127.0.0.1 ${master}` }),
        requirepass: this.password,
        masterauth: this.password,
      },
      port,
    );
  }

  private async startSentinel(): Promise<void> {
    const [master] = this.servers.keys();
    const port = await freePort();
    const settings = `bind 127.0.0.1
port ${port}
sentinel monitor ${MASTER_NAME} 127.0.0.1 ${master} 2
sentinel down-after-milliseconds ${MASTER_NAME} 1000
sentinel failover-timeout ${MASTER_NAME} 1000
sentinel auth-pass ${MASTER_NAME} ${this.password}
sentinel sentinel-pass ${this.password}
requirepass ${this.password}
`;
    const client = new Redis({
      port,
      host: '127.0.0.1',
      lazyConnect: true,
      retryStrategy: () => null,
      password: this.password,
    });
    client.on('error', () => {});
    const program = await startProgram(
      ['redis-server', 'sentinel.conf', '--sentinel'],
      { 'sentinel.conf': settings },
      () =>
        client.connect().then(
          () => true,
          () => false,
        ),
    );
    this.sentinels.push({ port, client, program });
  }
}

/** Returns the port of the master that a Sentinel knows, and whether it sees it, its two replicas and all Sentinels. */
async function sentinelState(client: Redis): Promise<{ master: number; isWhole: boolean }> {
  const flat = (await client.call('SENTINEL', 'MASTER', MASTER_NAME)) as string[] | Record<string, string>;
  const { port, flags, 'num-other-sentinels': others } = fields(flat);
  const replicas = (await client.call('SENTINEL', 'REPLICAS', MASTER_NAME)) as string[][];
  const healthy = replicas
    .map(fields)
    .filter((replica) => replica['flags'] === 'slave' && replica['master-link-status'] === 'ok');
  return {
    master: Number(port),
    isWhole: flags === 'master' && Number(others) === SENTINELS - 1 && healthy.length === 2,
  };
}

/** Returns the fields of a reply, which RESP3 has as a map and RESP2 as a list. */
function fields(reply: string[] | Record<string, string>): Record<string, string> {
  return Array.isArray(reply)
    ? Object.fromEntries(
        reply.flatMap((name, index) => (index % 2 === 0 ? [[name, reply[index + 1] ?? '']] : [])),
      )
    : reply;
}
