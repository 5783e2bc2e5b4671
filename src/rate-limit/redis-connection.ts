import { Logger } from '@nestjs/common';
import { Cluster, type Redis } from 'ioredis';
import { InvalidEnvironmentError } from '../environment.js';
import type { RedisAddress } from '../redis-address.js';
import { CounterStoreError, type FailureKind } from './counter-store.js';
import { DeadlineError, withinDeadline } from './deadline.js';
import { masterFinder, mastersOf, openClient, type RedisClient, type ScriptName } from './redis-client.js';
import { explain, NotConnectedError, nullOnReplyError, OutageLog, unusable } from './redis-failure.js';

/**
 * For one reply; later, the outcome is unknown. Not the `commandTimeout` of ioredis, which would expire while this process
 * is stopped and the reply waits in the socket.
 */
const REPLY_DEADLINE_MS = 500;
/** Between the starts of two attempts to connect, unless the first takes longer. */
const RETRY_INTERVAL_MS = 500;
/** Keys that one SCAN passes, about: counting waits behind it. */
const SCAN_COUNT = 1000;

/** The key and the values of a script. */
export type Call = [key: string, ...values: (string | number)[]];
type Scripts = Record<ScriptName, (...call: Call) => Promise<unknown>>;

/** A field of one hash, and the time of its server in milliseconds since the Unix epoch. */
export interface Field {
  key: string;
  value: string | null;
  nowMs: number;
}

/**
 * The connection to a Redis or Valkey server or Cluster. It is opened anew whenever it is lost, not reconnected by ioredis:
 * the address may lead to another server by then, which has to be checked first.
 */
export class RedisConnection {
  private readonly logger = new Logger(RedisConnection.name);
  private readonly outages = new OutageLog((line) => this.closed || this.logger.warn(line));
  /** Null while no server is connected and checked. */
  private client: RedisClient | null = null;
  private retry: NodeJS.Timeout | undefined;
  private closed = false;
  /** Why it is not connected. */
  private fault: unknown = new NotConnectedError();

  constructor(private readonly addresses: readonly RedisAddress[]) {}

  /**
   * Connects. When no server can be reached, it returns all the same and goes on trying.
   *
   * @throws InvalidEnvironmentError when one was reached, but is not fit to count.
   */
  async start(): Promise<void> {
    try {
      await this.open();
    } catch (error) {
      if (error instanceof InvalidEnvironmentError) {
        throw error;
      }
      this.openLater(error);
    }
  }

  close(): void {
    this.closed = true;
    clearTimeout(this.retry);
    this.client?.disconnect();
    this.client = null;
  }

  /**
   * Runs a script for each of many keys, all sent at once.
   *
   * @returns for each call the reply or its CounterStoreError: one for all calls that failed in the same way.
   */
  async run(script: ScriptName, calls: readonly Call[]): Promise<unknown[]> {
    const { client } = this;
    if (client?.status !== 'ready') {
      const error = this.notConnected();
      return calls.map(() => error);
    }
    const scripts = client as unknown as Scripts;
    const findMaster = masterFinder(client);
    const masters = calls.map(([key]) => findMaster(key));
    // Without a connected master, the errors of ioredis leave open whether the call was sent.
    const replies = calls.map((call, index) =>
      masters[index] ? scripts[script](...call) : Promise.reject(new NotConnectedError()),
    );
    // One timer for all of them.
    const deadline = inTime(Promise.allSettled(replies));
    const outcomes = await Promise.allSettled(replies.map((reply) => Promise.race([reply, deadline])));
    const errors = new Map<FailureKind, CounterStoreError>();
    const silent = new Set<Redis>();
    const results = outcomes.map((outcome, index) => {
      if (outcome.status === 'fulfilled') {
        return outcome.value;
      }
      const { reason } = outcome;
      const error = explain(reason, client instanceof Cluster);
      const master = masters[index];
      if (master && reason instanceof DeadlineError) {
        silent.add(master);
      }
      if (error.kind === 'wrongType') {
        this.outages.away(`What Redis has at ${calls[index]?.[0]}`, new Error('it is no counter'));
      }
      errors.set(error.kind, errors.get(error.kind) ?? error);
      return errors.get(error.kind);
    });
    silent.forEach((master) => void pingOrDisconnect(master).catch(() => {}));
    if (client instanceof Cluster && masters.includes(undefined)) {
      client.refreshSlotsCache();
    }
    errors.forEach((error) => (error.query = errors));
    return results;
  }

  /**
   * Pings every master.
   *
   * @throws CounterStoreError when one of them does not reply.
   */
  async ping(): Promise<void> {
    await this.use(async (client) => {
      if (client instanceof Cluster) {
        // Finds masters again whose connection was lost. A failure shows in the pings.
        await inTime(new Promise((done) => client.refreshSlotsCache(done))).catch(() => {});
      }
      await Promise.all(mastersOf(client).map(pingOrDisconnect));
    });
  }

  /**
   * Returns a field of every hash whose key matches a pattern, of all masters: null where a key holds no hash. A key may
   * appear twice.
   *
   * @throws CounterStoreError when one of the masters does not reply.
   */
  fields(pattern: string, field: string): Promise<Field[]> {
    return this.use(async (client) => {
      const found = await Promise.all(
        mastersOf(client).map(async (master) => {
          const values: { key: string; value: string | null }[] = [];
          let cursor = '0';
          do {
            const [next, keys] = await inTime(master.scan(cursor, 'MATCH', pattern, 'COUNT', SCAN_COUNT));
            // By the client, as a key may be moving to another master of the Cluster just now.
            const read = async (key: string) =>
              values.push({ key, value: await nullOnReplyError(client.hget(key, field), 'wrongType') });
            await inTime(Promise.all(keys.map(read)));
            cursor = next;
          } while (cursor !== '0');
          const [seconds, microseconds] = await inTime(master.time());
          const nowMs = Number(seconds) * 1000 + Math.floor(Number(microseconds) / 1000);
          return values.map((each) => ({ ...each, nowMs }));
        }),
      );
      return found.flat();
    });
  }

  private async use<T>(query: (client: RedisClient) => Promise<T>): Promise<T> {
    const { client } = this;
    if (client?.status !== 'ready') {
      throw this.notConnected();
    }
    try {
      return await query(client);
    } catch (error) {
      throw explain(error, client instanceof Cluster);
    }
  }

  private async open(): Promise<void> {
    const client = await openClient(this.addresses, this.outages);
    if (this.closed) {
      client.disconnect();
      return;
    }
    let fault: unknown = new Error('the connection was closed');
    client.on('error', (error) => (fault = error));
    client.once('end', () => {
      this.client = null;
      this.openLater(fault);
    });
    this.client = client;
    this.outages.back('Redis');
  }

  private openLater(fault: unknown, delayMs = RETRY_INTERVAL_MS): void {
    if (this.closed) {
      return;
    }
    this.fault = fault;
    this.outages.away('Redis', fault);
    this.retry = setTimeout(() => {
      const nextMs = performance.now() + RETRY_INTERVAL_MS;
      this.open().catch((error: unknown) => this.openLater(error, nextMs - performance.now()));
    }, delayMs).unref();
  }

  private notConnected(): CounterStoreError {
    return new CounterStoreError('noConnection', unusable(this.fault));
  }
}

/** Pings a server, and disconnects it when it does not reply in time. */
async function pingOrDisconnect(server: Redis): Promise<void> {
  try {
    await inTime(server.ping());
  } catch (error) {
    if (error instanceof DeadlineError) {
      // The listeners of lost connections log the reason.
      server.emit('error', error);
      server.disconnect();
    }
    throw error;
  }
}

/** @throws DeadlineError when the reply does not arrive in time. */
function inTime<T>(reply: Promise<T>): Promise<T> {
  return withinDeadline(reply, REPLY_DEADLINE_MS);
}
