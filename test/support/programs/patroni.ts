import { rm } from 'node:fs/promises';
import path from 'node:path';
import { eventually } from '../eventually.js';
import { freePort } from './free-port.js';
import { haproxy } from './load-balancers.js';
import { asNobody, createFolder, findProgram, type Program, startProgram } from './programs.js';
import { type DatabaseProxy, startDatabaseProxy } from './database-proxy.js';
import { findPostmaster, freezeServer, POSTGRES_PROGRAMS, signal } from './debian-postgres.js';

const findPatroni = () => findProgram('patroni', 'patroni');
const findEtcd = () => findProgram('etcd-server', 'etcd');
export const hasPatroni = () =>
  [findPatroni(), findEtcd(), haproxy(), POSTGRES_PROGRAMS].every((name) => name !== undefined);

/** How long Patroni waits for a primary that is gone, and for its store. */
const TIMES = { ttl: 5, loop_wait: 1, retry_timeout: 2, primary_start_timeout: 0 };
/** To copy a server, or to have an old primary follow the new one. */
const SETTLE_MS = 60_000;

/**
 * A server of PostgreSQL with its Patroni. Everything outside of it is reached, and reaches it, through
 * proxies.
 */
interface Node {
  name: string;
  folder: string;
  proxies: Record<'postgres' | 'api' | 'store', DatabaseProxy>;
  /** Starts its Patroni, which starts the server. */
  start(): Promise<void>;
  /** Null while it does not run. */
  patroni: Program | null;
  /** The processes of its server that are stopped. */
  frozen: number[];
}

/**
 * Two servers of PostgreSQL that Patroni keeps as primary and synchronous standby, behind an HAProxy that
 * leads to the primary.
 */
export class PatroniCluster {
  private readonly nodes: Node[] = [];
  private readonly programs: Program[] = [];
  private port = 0;

  private constructor(
    /** Of the servers' account. */
    readonly folder: string,
  ) {}

  static async start(): Promise<PatroniCluster> {
    const cluster = new PatroniCluster(await createFolder('patroni-'));
    try {
      const store = await cluster.startStore();
      for (const name of ['one', 'two']) {
        cluster.nodes.push(await createNode(name, path.join(cluster.folder, name), store));
      }
      await cluster.startBalancer();
      for (const node of cluster.nodes) {
        await node.start();
      }
      await cluster.settle();
    } catch (error) {
      await cluster.remove();
      throw error;
    }
    return cluster;
  }

  /** Returns the address of the primary, by HAProxy. */
  url(database = 'postgres', user = 'postgres'): string {
    return `postgres://${user}@127.0.0.1:${this.port}/${database}`;
  }

  /** Returns the name of the node that is the primary, undefined while there is none. */
  async primary(): Promise<string | undefined> {
    const roles = await Promise.all(this.nodes.map((node) => isHealthy(node, 'primary')));
    return this.nodes[roles.indexOf(true)]?.name;
  }

  /** Returns the processes that start all others, by a name for each. */
  async processes(): Promise<Map<string, number>> {
    const processes = new Map(
      this.programs.map(({ process }, index) => [`program ${index}`, process.pid ?? NaN]),
    );
    for (const node of this.nodes) {
      processes.set(`patroni ${node.name}`, node.patroni?.process.pid ?? NaN);
      processes.set(`server ${node.name}`, await findPostmaster(dataFolder(node)));
    }
    return processes;
  }

  /** Returns the proxies through which a node is reached, and reaches others. */
  proxies(name: string): Node['proxies'] {
    return this.node(name).proxies;
  }

  /** Returns the port of the standby's server. */
  async standbyPort(): Promise<number> {
    const standby = this.nodes[(await this.primary()) === 'one' ? 1 : 0] as Node;
    return proxyPort(standby.proxies.postgres);
  }

  /** Kills all processes of a node at once. */
  async kill(name: string): Promise<void> {
    const node = this.node(name);
    await this.freeze(name);
    node.frozen.splice(0).forEach((pid) => signal(pid, 'SIGKILL'));
    await node.patroni?.stop('SIGKILL');
    node.patroni = null;
    Object.values(node.proxies).forEach((proxy) => proxy.goAway());
  }

  /** Stops all processes of a node with SIGSTOP. */
  async freeze(name: string): Promise<void> {
    const node = this.node(name);
    node.patroni?.process.kill('SIGSTOP');
    node.frozen = await freezeServer(dataFolder(node));
  }

  goOn(name: string): void {
    const node = this.node(name);
    node.frozen.splice(0).forEach((pid) => signal(pid, 'SIGCONT'));
    node.patroni?.process.kill('SIGCONT');
  }

  /** Cuts a node off from clients, the other node and the store of Patroni. */
  cutOff(name: string): void {
    Object.values(this.node(name).proxies).forEach((proxy) => proxy.hang());
  }

  /** Lets a node that was cut off reach everything again, by new connections. */
  async connectAgain(name: string): Promise<void> {
    const proxies = Object.values(this.node(name).proxies);
    proxies.forEach((proxy) => proxy.goAway());
    await Promise.all(proxies.map((proxy) => proxy.comeBack()));
  }

  /** Starts a node that was killed. */
  async restart(name: string): Promise<void> {
    await Promise.all(Object.values(this.node(name).proxies).map((proxy) => proxy.comeBack()));
    await this.node(name).start();
  }

  /** Makes the standby the primary, as an operator does before maintenance. */
  async switchOver(): Promise<void> {
    const leader = await this.primary();
    const body = JSON.stringify({ leader });
    const response = await fetch(`${apiAddress(this.node(leader ?? ''))}/switchover`, {
      method: 'POST',
      body,
    });
    if (!response.ok) {
      throw new Error(`Patroni did not switch over: ${await response.text()}`);
    }
  }

  /**
   * Waits until there are a primary and a synchronous standby that keeps up.
   *
   * @throws Error with what each node says of itself.
   */
  settle(): Promise<void> {
    return eventually(async () => {
      const standbys = await Promise.all(this.nodes.map((node) => keepsUp(node)));
      if ((await this.primary()) === undefined || !standbys.includes(true)) {
        const states = await Promise.all(
          this.nodes.map(async (node) => `${node.name}: ${await describe(node)}`),
        );
        throw new Error(`There is no primary with a synchronous standby. ${states.join('; ')}`);
      }
    }, SETTLE_MS);
  }

  async remove(): Promise<void> {
    for (const node of this.nodes.filter(({ patroni }) => patroni !== null)) {
      await this.kill(node.name);
    }
    this.nodes.flatMap(({ proxies }) => Object.values(proxies)).forEach((proxy) => proxy.close());
    await Promise.all(this.programs.map((program) => program.stop('SIGKILL')));
    await rm(this.folder, { recursive: true, force: true });
  }

  private node(name: string): Node {
    return this.nodes.find((node) => node.name === name) as Node;
  }

  /** Starts the etcd in which Patroni keeps who is the primary. Returns its address. */
  private async startStore(): Promise<string> {
    const [clients, peers] = await Promise.all([freeUrl(), freeUrl()]);
    const options = {
      'data-dir': path.join(this.folder, 'etcd'),
      'enable-v2': 'true',
      'listen-client-urls': clients,
      'advertise-client-urls': clients,
      'listen-peer-urls': peers,
      'initial-advertise-peer-urls': peers,
      'initial-cluster': `default=${peers}`,
    };
    const command = [
      findEtcd() ?? '',
      ...Object.entries(options).map(([name, value]) => `--${name}=${value}`),
    ];
    const isReady = async () => (await fetch(`${clients}/health`).catch(() => null))?.ok === true;
    this.programs.push(await startProgram(asNobody(command), {}, isReady));
    return clients;
  }

  private async startBalancer(): Promise<void> {
    this.port = await freePort();
    const servers = this.nodes.map(
      ({ name, proxies }) =>
        `  server ${name} 127.0.0.1:${proxyPort(proxies.postgres)} check port ${proxyPort(proxies.api)}\n`,
    );
    const settings = `defaults
  mode tcp
  timeout connect 1s
  timeout check 500ms
  timeout client 1h
  timeout server 1h
listen primary
  bind 127.0.0.1:${this.port}
  option httpchk GET /primary
  http-check expect status 200
  default-server inter 500ms fall 2 rise 1 on-marked-down shutdown-sessions
${servers.join('')}`;
    const isReady = () => this.nodes.length > 0;
    this.programs.push(
      await startProgram([haproxy() ?? '', '-db', '-f', 'haproxy.cfg'], { 'haproxy.cfg': settings }, isReady),
    );
  }
}

async function createNode(name: string, folder: string, store: string): Promise<Node> {
  const [postgres, api] = await Promise.all([freeUrl(), freeUrl()]);
  const proxies = {
    postgres: await startDatabaseProxy(postgres),
    api: await startDatabaseProxy(api),
    store: await startDatabaseProxy(store),
  };
  const host = (url: string) => new URL(url).host;
  const settings = {
    scope: 'animal-store',
    name,
    restapi: { listen: host(api), connect_address: host(proxies.api.url) },
    // As `host`, Patroni would find out the address behind the proxy. By etcd's version 3, Debian's Patroni
    // lets a server that was frozen overwrite the lock of its successor (mended in 3.0.3 by its pull request
    // 2689).
    etcd: { proxy: proxies.store.url },
    bootstrap: {
      dcs: {
        ...TIMES,
        synchronous_mode: true,
        postgresql: { use_pg_rewind: true, parameters: { wal_log_hints: 'on' } },
      },
      initdb: [{ encoding: 'UTF8' }, { auth: 'trust' }, 'no-sync'],
    },
    postgresql: {
      listen: host(postgres),
      connect_address: host(proxies.postgres.url),
      data_dir: path.join(folder, 'data'),
      bin_dir: POSTGRES_PROGRAMS,
      // The copy for the standby begins at once, instead of after a checkpoint that takes its time.
      basebackup: ['no-sync', { checkpoint: 'fast' }],
      pgpass: path.join(path.dirname(folder), `${name}.pgpass`),
      authentication: {
        superuser: { username: 'postgres' },
        replication: { username: 'replicator' },
      },
      pg_hba: ['host all all 127.0.0.1/32 trust', 'host replication all 127.0.0.1/32 trust'],
      // A standby that receives nothing for five seconds connects anew.
      parameters: { unix_socket_directories: '', wal_receiver_timeout: '5s' },
    },
  };
  const node: Node = {
    name,
    folder,
    proxies,
    patroni: null,
    frozen: [],
    start: async () => {
      const isUp = async () => (await isHealthy(node, 'primary')) || (await isHealthy(node, 'replica'));
      // YAML includes JSON.
      const files = { 'patroni.yml': JSON.stringify(settings) };
      node.patroni = await startProgram(
        asNobody([findPatroni() ?? '', 'patroni.yml']),
        files,
        isUp,
        SETTLE_MS,
      );
    },
  };
  return node;
}

/** Returns what a node says of itself (Patroni REST API, "Monitoring endpoint"), or why it says nothing. */
const describe = (node: Node) =>
  fetch(`${apiAddress(node)}/patroni`, { signal: AbortSignal.timeout(500) }).then(
    (response) => response.text(),
    String,
  );

/**
 * Returns whether a node has this role, and what else is required of it, and its server runs (Patroni REST
 * API, "Health check endpoints").
 */
async function isHealthy(node: Node, role: string): Promise<boolean> {
  const timeout = AbortSignal.timeout(500);
  return (await fetch(`${apiAddress(node)}/${role}`, { signal: timeout }).catch(() => null))?.status === 200;
}

/**
 * Returns whether a node is a synchronous standby that has what the primary had written a moment ago: its
 * link may be lost without a notice.
 */
async function keepsUp(node: Node): Promise<boolean> {
  return (await isHealthy(node, 'synchronous')) && (await isHealthy(node, 'replica?lag=64kB'));
}

const freeUrl = async () => `http://127.0.0.1:${await freePort()}`;
const apiAddress = ({ proxies }: Node) => new URL(proxies.api.url).origin;
const dataFolder = ({ folder }: Node) => path.join(folder, 'data');
const proxyPort = ({ url }: DatabaseProxy) => Number(new URL(url).port);
