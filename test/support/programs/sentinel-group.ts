import type { Redis } from 'ioredis';
import { type DatabaseProxy, startDatabaseProxy } from './database-proxy.js';
import { until } from '../eventually.js';
import { freePort } from './free-port.js';
import { type Program, startProgram } from './programs.js';
import { createOperator, type RedisServer, startRedis } from './redis.js';

const MASTER_NAME = 'animal-store';
const REPLICAS = 2;
const SENTINELS = 3;
/** How long a server is silent before the Sentinels replace it, and their deadline for that. */
const DOWN_AFTER_MS = 1000;
/**
 * How often Sentinels check the servers and exchange what they found: by default every two to ten seconds.
 */
const PERIODS = Object.entries({ 'info-period': 300, 'publish-period': 300, 'ping-period': 200 });

interface Server {
  server: RedisServer;
  address: DatabaseProxy;
}

/**
 * A master, two replicas and three Sentinels. Servers are reached through proxies, which can cut them off
 * from all others.
 */
export class SentinelGroup {
  /** By the port under which Sentinels know them. */
  private readonly servers = new Map<number, Server>();
  private readonly sentinels: { port: number; client: Redis; program: Program }[] = [];
  private readonly subscribers: Redis[] = [];

  private constructor(private readonly password: string) {}

  /** Starts a group whose servers and Sentinels have this password. */
  static async start(password: string): Promise<SentinelGroup> {
    const group = new SentinelGroup(password);
    try {
      const master = await group.addServer();
      await Promise.all([
        ...Array.from({ length: REPLICAS }, () => group.addServer(master)),
        ...Array.from({ length: SENTINELS }, () => group.addSentinel(master)),
      ]);
      await group.settle();
    } catch (error) {
      await group.stop();
      throw error;
    }
    return group;
  }

  /** The setting `COUNTER_STORE_URL`. */
  get url(): string {
    const hosts = this.sentinels.map(({ port }) => `127.0.0.1:${port}`);
    return `redis+sentinel://:${encodeURIComponent(this.password)}@${hosts.join(',')}/${MASTER_NAME}`;
  }

  private get sentinel(): Redis {
    return (this.sentinels[0] as { client: Redis }).client;
  }

  /** Returns the process of each server and each Sentinel, by its name and port. */
  processes(): Map<string, number> {
    return new Map([
      ...[...this.servers].map(([port, { server }]) => [`server ${port}`, server.pid] as const),
      ...this.sentinels.map(({ port, program }) => [`sentinel ${port}`, program.process.pid ?? NaN] as const),
    ]);
  }

  /** Returns the port of the master, by the Sentinels. */
  async masterPort(): Promise<number> {
    const address = await this.sentinel.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', MASTER_NAME);
    return Number((address as string[])[1]);
  }

  /** Returns the server that Sentinels know by this port. */
  at(port: number): Server {
    return this.servers.get(port) as Server;
  }

  async kill(port: number): Promise<void> {
    this.at(port).address.goAway();
    await this.at(port).server.stop();
  }

  /** Starts a server that was killed, as a replica. */
  async restart(port: number): Promise<void> {
    const entry = this.at(port);
    entry.server = await this.startServer(entry.server.port, port, await this.masterPort());
    await entry.address.comeBack();
  }

  /** Ends all connections of a server that was cut off, and has others reach it again. */
  async connectAgain(port: number): Promise<void> {
    this.at(port).address.goAway();
    await this.at(port).address.comeBack();
  }

  /** Has the Sentinels replace a master that works. */
  failOver(): Promise<unknown> {
    return this.sentinel.call('SENTINEL', 'FAILOVER', MASTER_NAME);
  }

  /** Runs `callback` whenever a Sentinel is about to make a replica the master. */
  async onFailover(callback: () => void): Promise<void> {
    for (const { client } of this.sentinels) {
      const subscriber = client.duplicate();
      this.subscribers.push(subscriber);
      subscriber.on('message', callback).on('error', () => {});
      await subscriber.subscribe('+failover-state-send-slaveof-noone');
    }
  }

  /** Returns whether the master has a replica, without which it rejects writes. */
  async acceptsWrites(): Promise<boolean> {
    const { server } = this.at(await this.masterPort());
    return /min_slaves_good_slaves:[1-9]/.test(await readReplication(server));
  }

  /** Waits until a master has both replicas, which receive from it, and all Sentinels report that. */
  settle(deadlineMs = 30_000): Promise<void> {
    return until(async () => {
      const states = await Promise.all(this.sentinels.map(({ client }) => readState(client)));
      const isWhole = states.every((state) => state.isWhole && state.master === states[0]?.master);
      return isWhole && (await this.countFollowing()) === REPLICAS;
    }, deadlineMs);
  }

  /**
   * Returns how many replicas have received from their master within the last second or two: a link may be
   * lost without a notice.
   */
  private async countFollowing(): Promise<number> {
    const infos = await Promise.all([...this.servers.values()].map(({ server }) => readReplication(server)));
    return infos.filter((info) => /master_last_io_seconds_ago:[01]\b/.test(info)).length;
  }

  async stop(): Promise<void> {
    [...this.sentinels.map(({ client }) => client), ...this.subscribers].forEach((each) => each.disconnect());
    await Promise.all(this.sentinels.map(({ program }) => program.stop('SIGKILL')));
    for (const { server, address } of this.servers.values()) {
      address.close();
      await server.stop();
    }
  }

  /**
   * Adds a server, which is a replica if a master is given. Returns the port under which Sentinels know it.
   */
  private async addServer(master?: number): Promise<number> {
    const port = await freePort();
    const address = await startDatabaseProxy(`redis://127.0.0.1:${port}`);
    const known = Number(new URL(address.url).port);
    this.servers.set(known, { server: await this.startServer(port, known, master), address });
    return known;
  }

  private startServer(port: number, announced: number, master: number | undefined): Promise<RedisServer> {
    return startRedis(
      {
        'replica-announce-ip': '127.0.0.1',
        'replica-announce-port': String(announced),
        // A replica connects to its master anew within a second, or once it has received nothing for five.
        'repl-ping-replica-period': '1',
        'repl-timeout': '5',
        'min-replicas-to-write': '1',
        ...(master !== undefined && { replicaof: `127.0.0.1 ${master}` }),
        requirepass: this.password,
        masterauth: this.password,
      },
      { port },
    );
  }

  private async addSentinel(master: number): Promise<void> {
    const port = await freePort();
    const settings = `bind 127.0.0.1
port ${port}
sentinel monitor ${MASTER_NAME} 127.0.0.1 ${master} 2
sentinel down-after-milliseconds ${MASTER_NAME} ${DOWN_AFTER_MS}
sentinel failover-timeout ${MASTER_NAME} ${DOWN_AFTER_MS}
sentinel auth-pass ${MASTER_NAME} ${this.password}
sentinel sentinel-pass ${this.password}
requirepass ${this.password}
`;
    const { operator: client, isReady } = createOperator(port, this.password);
    const command = ['redis-server', 'sentinel.conf', '--sentinel'];
    const program = await startProgram(command, { 'sentinel.conf': settings }, isReady);
    this.sentinels.push({ port, client, program });
    await client.call('SENTINEL', 'DEBUG', ...PERIODS.flat());
  }
}

async function readReplication({ operator }: RedisServer): Promise<string> {
  // Sentinels close the connections of a server that they promote, or that follows another one.
  if (operator.status === 'end') {
    await operator.connect();
  }
  return operator.info('replication');
}

/**
 * Returns the port of the master that a Sentinel knows, and whether it sees it, its replicas and all
 * Sentinels.
 */
async function readState(client: Redis): Promise<{ master: number; isWhole: boolean }> {
  const flat = (await client.call('SENTINEL', 'MASTER', MASTER_NAME)) as string[] | Record<string, string>;
  const { port, flags, 'num-other-sentinels': others } = toFields(flat);
  const replicas = (await client.call('SENTINEL', 'REPLICAS', MASTER_NAME)) as string[][];
  const healthy = replicas
    .map(toFields)
    .filter((replica) => replica['flags'] === 'slave' && replica['master-link-status'] === 'ok');
  return {
    master: Number(port),
    isWhole: flags === 'master' && Number(others) === SENTINELS - 1 && healthy.length === REPLICAS,
  };
}

/** Returns the fields of a reply, which RESP3 has as a map and RESP2 as a list. */
function toFields(reply: string[] | Record<string, string>): Record<string, string> {
  return Array.isArray(reply)
    ? Object.fromEntries(
        reply.flatMap((name, index) => (index % 2 === 0 ? [[name, reply[index + 1] ?? '']] : [])),
      )
    : reply;
}
