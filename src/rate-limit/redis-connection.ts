import { readFileSync } from 'node:fs';
import { Logger } from '@nestjs/common';
import { Cluster, type ClusterOptions, type DNSLookupFunction, Redis, type RedisOptions } from 'ioredis';
import { InvalidEnvironmentError } from '../environment.js';
import type { RedisAddress } from '../redis-address.js';
import { CounterStoreError, type FailureKind } from './counter-store.js';
import { withinDeadline } from './deadline.js';

/** A question that was not answered by then fails. Whether the server did what it was asked is not known. */
const ANSWER_DEADLINE_MS = 500;
/** A connection that says nothing for so long while it is asked is given up, and opened anew. */
const SILENCE_MS = 1000;
/** All that belongs to opening a connection: in a Cluster several questions to several nodes. */
const OPEN_TIMEOUT_MS = 3000;
const CONNECT_TIMEOUT_MS = 1000;
/** Between two tries to connect. */
const RETRY_INTERVAL_MS = 500;
/** Keys that one step of a search passes, so that counting never waits long behind it. */
const SCAN_COUNT = 1000;
const SAFE_POLICY = 'noeviction';
/** What the driver says of a call that it did not send. */
const NOT_SENT = /enableOfflineQueue/;
/** What it says of one that each node has sent to another. */
const SENT_ON = /^Too many Cluster redirections/;

const scriptFile = (name: string) => ({
  numberOfKeys: 1,
  lua: readFileSync(new URL(`./${name}.lua`, import.meta.url), 'utf8'),
});
/** Sent by their hash; whole where a server does not have them, as after its start. */
const SCRIPTS = {
  takeRequests: scriptFile('take'),
  addRequests: scriptFile('add'),
  liftBan: scriptFile('lift-ban'),
};

type ScriptName = keyof typeof SCRIPTS;
type Scripted<Returned> = Record<ScriptName, (key: string, ...values: (string | number)[]) => Returned>;

/** A script's key, and its values. */
export type Call = [key: string, ...values: (string | number)[]];

/** What one hash had in a field, and the time of the server that it was on, in milliseconds since the Unix epoch. */
export interface Field {
  key: string;
  value: string | null;
  nowMs: number;
}

/** A Redis or Valkey server or Cluster: it finds out by itself which. Connects anew whenever the connection is lost. */
export class RedisConnection {
  private readonly logger = new Logger(RedisConnection.name);
  /** Null until a server was reached and found fit to count. */
  private client: Redis | Cluster | null = null;
  private retry: NodeJS.Timeout | undefined;
  private closed = false;
  /** What was wrong last; null while nothing is. */
  private fault: Error | null = null;
  /** Nodes of the Cluster that are away, and were told of in the log. */
  private readonly nodesAway = new Set<string>();

  constructor(private readonly addresses: readonly RedisAddress[]) {}

  /**
   * Connects. Where no server can be reached it returns all the same, and goes on trying.
   *
   * @throws InvalidEnvironmentError when one was reached, but is not fit to count.
   */
  async start(): Promise<void> {
    try {
      await this.connect();
    } catch (error) {
      if (error instanceof InvalidEnvironmentError) {
        throw error;
      }
      this.noteFault(error);
      this.connectLater();
    }
  }

  close(): void {
    this.closed = true;
    clearTimeout(this.retry);
    this.client?.disconnect();
    this.client = null;
  }

  /**
   * Calls a script for each of many keys, all at once.
   *
   * @returns for each call what the script returned, or the CounterStoreError that tells why it did not: one for all calls
   *   that failed in the same way.
   */
  async run(script: ScriptName, calls: readonly Call[]): Promise<unknown[]> {
    const { client } = this;
    if (client?.status !== 'ready') {
      const refusal = this.refusal();
      return calls.map(() => refusal);
    }
    const outcomes = await inTime(send(client, script, calls));
    const errors = new Map<FailureKind, CounterStoreError>();
    return outcomes.map((outcome) => {
      if (outcome.status === 'fulfilled') {
        return outcome.value;
      }
      const error = explain(client, outcome.reason);
      errors.set(error.kind, errors.get(error.kind) ?? error);
      return errors.get(error.kind);
    });
  }

  /**
   * Asks every master for a sign of life.
   *
   * @throws CounterStoreError when one of them gives none.
   */
  async ping(): Promise<void> {
    await this.ask((client) =>
      withinDeadline(Promise.all(mastersOf(client).map((master) => master.ping())), ANSWER_DEADLINE_MS),
    );
  }

  /**
   * A field of every hash whose key matches a pattern, on all servers of a Cluster.
   *
   * @throws CounterStoreError when one of them is away.
   */
  async fields(pattern: string, field: string): Promise<Field[]> {
    return this.ask(async (client) => {
      const found = await Promise.all(
        mastersOf(client).map(async (master) => {
          const keys = await keysOf(master, pattern);
          // Not of this master alone: a key may be moving to another just now.
          const values = await Promise.all(keys.map((key) => client.hget(key, field)));
          const [seconds, microseconds] = await master.time();
          const nowMs = Number(seconds) * 1000 + Math.floor(Number(microseconds) / 1000);
          return keys.map((key, index) => ({ key, value: values[index] ?? null, nowMs }));
        }),
      );
      return found.flat();
    });
  }

  private async ask<Answer>(question: (client: Redis | Cluster) => Promise<Answer>): Promise<Answer> {
    const { client } = this;
    if (client?.status !== 'ready') {
      throw this.refusal();
    }
    try {
      return await question(client);
    } catch (error) {
      throw explain(client, error);
    }
  }

  private async connect(): Promise<void> {
    const client = (await this.findCluster()) ? this.openCluster() : this.openServer();
    try {
      await withinDeadline(client.connect(), OPEN_TIMEOUT_MS);
      await Promise.all(mastersOf(client).map(expectNoEviction));
    } catch (error) {
      client.disconnect();
      // Of a refused connection the driver says here no more than that it is closed; its events said why.
      throw error instanceof InvalidEnvironmentError ? error : (this.fault ?? error);
    }
    if (this.closed) {
      client.disconnect();
    } else {
      this.client = client;
      this.noteRecovery();
    }
  }

  private connectLater(): void {
    if (this.closed) {
      return;
    }
    this.retry = setTimeout(() => {
      this.connect().catch((error: unknown) => {
        this.noteFault(error);
        this.connectLater();
      });
    }, RETRY_INTERVAL_MS).unref();
  }

  /**
   * Whether a Cluster is there, by the first address that answers.
   *
   * @throws InvalidEnvironmentError when COUNTER_STORE says otherwise; the driver's error when none answers.
   */
  private async findCluster(): Promise<boolean> {
    let fault: unknown;
    for (const address of this.addresses) {
      const server = new Redis({ ...serverOptions({ ...address, db: 0 }), retryStrategy: () => null });
      server.on('error', (error) => (fault = error));
      try {
        await server.connect();
        const info = await unlessRefused(server.info('cluster'));
        const isCluster = info === null ? this.addresses.length > 1 : /^cluster_enabled:1/m.test(info);
        this.expectAddresses(isCluster);
        return isCluster;
      } catch (error) {
        if (error instanceof InvalidEnvironmentError) {
          throw error;
        }
        fault ??= error;
      } finally {
        server.disconnect();
      }
    }
    throw fault;
  }

  private expectAddresses(isCluster: boolean): void {
    if (!isCluster && this.addresses.length > 1) {
      throw new InvalidEnvironmentError(
        'COUNTER_STORE has several addresses, which only a Cluster may have, and no Cluster is there',
      );
    }
    if (isCluster && this.addresses[0]?.db !== 0) {
      throw new InvalidEnvironmentError('COUNTER_STORE names a database, and a Cluster has none but 0');
    }
  }

  private openServer(): Redis {
    const address = this.addresses[0] as RedisAddress;
    const server = new Redis({
      ...serverOptions(address),
      retryStrategy: () => RETRY_INTERVAL_MS,
      // What was a master is a replica now: its name may lead to the new one.
      reconnectOnError: ({ message }) => message.startsWith('READONLY'),
    });
    server.on('error', (error) => this.noteFault(error));
    server.on('close', () => this.noteClosing(server));
    server.on('ready', () => this.noteRecovery());
    return server;
  }

  private openCluster(): Cluster {
    const redisOptions = connectionOptions(this.addresses[0] as RedisAddress);
    const options = {
      redisOptions,
      scripts: SCRIPTS,
      lazyConnect: true,
      enableOfflineQueue: false,
      // One that lost all its nodes is opened anew, from the addresses of COUNTER_STORE.
      clusterRetryStrategy: () => null,
      // A call is never sent twice: what became of the first may be unknown. Redirections alone are followed.
      retryDelayOnFailover: 0,
      retryDelayOnClusterDown: 0,
      // Certificates are for names.
      ...('tls' in redisOptions && { dnsLookup: nameItself }),
    } satisfies ClusterOptions;
    const nodes = this.addresses.map(({ host, port }) => ({ host, port }));
    const cluster = new Cluster(nodes, options);
    cluster.on('error', (error: unknown) => this.noteFault(error));
    cluster.on('end', () => {
      this.noteClosing(cluster);
      if (this.client === cluster) {
        this.client = null;
        this.connectLater();
      }
    });
    cluster.on('node error', (error: Error, node: string) => this.noteNodeFault(error, node));
    cluster.on('+node', (node: Redis) => {
      node.once('ready', () => this.nodesAway.delete(`${node.options.host}:${node.options.port}`));
      // Connected before it is needed: while it connects, what is asked of it fails. Not so early that this would be the
      // Cluster's own question whether it is ready.
      if (cluster.status === 'ready' && node.status === 'wait') {
        node.connect().catch(() => {});
      }
    });
    return cluster;
  }

  /** Says it once, until there is a connection again; and where the settings are at fault, that too. */
  private noteFault(reason: unknown): void {
    if (this.closed) {
      return;
    }
    const error = reason instanceof Error ? reason : new Error(String(reason));
    if (
      this.fault === null ||
      (error instanceof InvalidEnvironmentError && this.fault.message !== error.message)
    ) {
      this.logger.warn(`Redis cannot be used, and is tried again: ${error.message}`);
    }
    this.fault = error;
  }

  private noteClosing(client: Redis | Cluster): void {
    // One that is not in use yet was closed by ourselves.
    if (client === this.client) {
      this.noteFault(new Error('the connection was closed'));
    }
  }

  private noteNodeFault(error: Error, node: string): void {
    if (!this.closed && !this.nodesAway.has(node)) {
      this.nodesAway.add(node);
      this.logger.warn(`The node ${node} of the Redis Cluster is away: ${error.message}`);
    }
  }

  private noteRecovery(): void {
    // Within connect() a server is not known yet to be fit.
    if (this.client !== null && this.fault !== null) {
      this.fault = null;
      this.logger.warn('Redis is there again');
    }
  }

  private refusal(): CounterStoreError {
    return new CounterStoreError('refused', unusable(this.fault ?? new Error('it is not connected')));
  }
}

function explain(client: Redis | Cluster, error: unknown): CounterStoreError {
  return new CounterStoreError(kindOf(client, error), unusable(error));
}

function kindOf(client: Redis | Cluster, error: unknown): FailureKind {
  const { name, message } = error as Error;
  if (NOT_SENT.test(message)) {
    // Of one node of a Cluster this says nothing of the others.
    return client instanceof Cluster ? 'failed' : 'refused';
  }
  return name === 'ReplyError' || SENT_ON.test(message) ? 'failed' : 'unanswered';
}

function unusable(cause: unknown): Error {
  return new Error(`Redis cannot be used: ${cause instanceof Error ? cause.message : String(cause)}`, {
    cause,
  });
}

/** Of a connection, to a server or to a node of a Cluster. */
function connectionOptions({ tls, username, password }: RedisAddress) {
  return {
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(tls && { tls: {} }),
    connectionName: 'animal-store-counters',
    connectTimeout: CONNECT_TIMEOUT_MS,
    socketTimeout: SILENCE_MS,
    disconnectTimeout: SILENCE_MS,
    // Nothing is ever sent a second time.
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
  } satisfies RedisOptions;
}

function serverOptions(address: RedisAddress) {
  const { host, port, db } = address;
  return {
    ...connectionOptions(address),
    host,
    port,
    db,
    scripts: SCRIPTS,
    lazyConnect: true,
    // Whoever asks while there is no connection is told at once.
    enableOfflineQueue: false,
  } satisfies RedisOptions;
}

const nameItself: DNSLookupFunction = (name, done) => done(null, name);

/** Sends all calls before any is answered. */
function send(client: Redis | Cluster, script: ScriptName, calls: readonly Call[]): Promise<unknown>[] {
  if (client instanceof Cluster) {
    // Not one pipeline, so that each finds its own node, and follows its key where that has moved to.
    const scripted = client as unknown as Scripted<Promise<unknown>>;
    return calls.map((call) => scripted[script](...call));
  }
  const pipeline = client.pipeline();
  const scripted = pipeline as unknown as Scripted<unknown>;
  calls.forEach((call) => scripted[script](...call));
  const replies = pipeline.exec();
  return calls.map(async (_call, index) => {
    const [error, reply] = (await replies)?.[index] ?? [new Error('Redis left out a reply'), null];
    if (error !== null) {
      throw error;
    }
    return reply;
  });
}

/** Waits for each of these, but for none longer than the deadline. */
async function inTime(replies: Promise<unknown>[]): Promise<PromiseSettledResult<unknown>[]> {
  const deadline = withinDeadline(Promise.allSettled(replies), ANSWER_DEADLINE_MS);
  return Promise.allSettled(replies.map((reply) => Promise.race([reply, deadline.then(() => reply)])));
}

function mastersOf(client: Redis | Cluster): Redis[] {
  return client instanceof Cluster ? client.nodes('master') : [client];
}

async function keysOf(master: Redis, pattern: string): Promise<string[]> {
  const keys = new Set<string>();
  let cursor = '0';
  do {
    const [next, found] = await master.scan(cursor, 'MATCH', pattern, 'COUNT', SCAN_COUNT);
    found.forEach((key) => keys.add(key));
    cursor = next;
  } while (cursor !== '0');
  return [...keys];
}

/** @throws InvalidEnvironmentError when the server forgets counts and bans once its memory is full. */
async function expectNoEviction(server: Redis): Promise<void> {
  const told = /^maxmemory_policy:(\S+)/m.exec((await unlessRefused(server.info('memory'))) ?? '')?.[1];
  // Some providers do not tell it there.
  const [, configured] =
    told === undefined ? ((await unlessRefused(server.config('GET', 'maxmemory-policy'))) ?? []) : [];
  const policy = told ?? configured;
  if (policy !== SAFE_POLICY) {
    const { host, port } = server.options;
    throw new InvalidEnvironmentError(
      policy === undefined
        ? `COUNTER_STORE: ${host}:${port} tells its maxmemory-policy neither by INFO nor by CONFIG GET; allow one of them`
        : `COUNTER_STORE: ${host}:${port} has the maxmemory-policy ${policy}, by which counts and bans are forgotten when memory is full; set maxmemory-policy to ${SAFE_POLICY}`,
    );
  }
}

/** Null where the server does not permit the question. */
async function unlessRefused<T>(answer: Promise<T>): Promise<T | null> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof Error && error.name === 'ReplyError') {
      return null;
    }
    throw error;
  }
}
