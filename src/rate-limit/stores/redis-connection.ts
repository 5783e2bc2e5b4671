import { Logger } from '@nestjs/common';
import type { Redis } from 'ioredis';
import { LRUCache } from 'lru-cache';
import { databaseReason } from '../../database/availability.js';
import { InvalidEnvironmentError } from '../../settings/environment.js';
import type { RedisAddress } from '../../settings/redis-address.js';
import { CounterStoreError, type FailureKind } from './counter-store.js';
import { DeadlineError, withinDeadline } from '../rules/deadline.js';
import { mastersOf, openClient, type RedisClient, type ScriptName } from './redis-client.js';
import { notConnected, nullOnReplyError, redisFailure } from './redis-failure.js';

/**
 * For one reply; later, the outcome is unknown. Not the `commandTimeout` of ioredis, which also expires when this process was
 * stopped and the reply waits in the socket.
 */
const REPLY_DEADLINE_MS = 500;
/** Between the starts of two attempts to connect, unless the first takes longer. */
const RETRY_INTERVAL_MS = 500;
/** Keys that one SCAN passes, about: counting waits behind it. */
const SCAN_COUNT = 1000;
const MAX_LOGGED = 1000;

/** The key and the values of a script. */
export type Call = [key: string, ...values: (string | number)[]];
type Scripts = Record<ScriptName, (...call: Call) => Promise<unknown>>;

/**
 * The connection to a Redis or Valkey server, or to all masters of a Cluster: when one of them is lost, nothing is sent to the
 * others. A lost connection is replaced, not reconnected by ioredis, as the address may lead to another server by then, which has
 * to be checked before the first query.
 */
export class RedisConnection {
  private readonly logger = new Logger(RedisConnection.name);
  /** The lines logged since Redis was last there: each is logged once. */
  private readonly logged = new LRUCache<string, true>({ max: MAX_LOGGED });
  /** Null while no server is connected and checked. */
  private client: RedisClient | null = null;
  private retry: NodeJS.Timeout | undefined;
  private isClosed = false;
  /** Why it is not connected. */
  private fault: unknown = new Error('it is not connected');

  constructor(private readonly addresses: readonly RedisAddress[]) {}

  /**
   * Connects. When no server can be reached, it returns nevertheless, and retries until one can.
   *
   * @throws InvalidEnvironmentError when a server was reached that must not count.
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
    this.isClosed = true;
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
    if (client === null) {
      const error = notConnected(this.fault);
      return calls.map(() => error);
    }
    const scripts = client as unknown as Scripts;
    const replies = calls.map((call) => scripts[script](...call).catch(redisFailure));
    // One timer for all of them.
    const late = inTime(Promise.all(replies)).catch((error: unknown) => {
      // A server that replies to this is only slow. Else `ping` gives up the connection, and logs why.
      this.ping().catch(() => {});
      return redisFailure(error);
    });
    const outcomes = await Promise.all(replies.map((reply) => Promise.race([reply, late])));
    const errors = new Map<FailureKind, CounterStoreError>();
    return outcomes.map((outcome, index) => {
      if (!(outcome instanceof CounterStoreError)) {
        return outcome;
      }
      if (outcome.kind === 'wrongType') {
        const key = calls[index]?.[0];
        this.logOnce(`What Redis has at ${key} cannot be used, and is tried again: it is no counter`);
      }
      const error = errors.get(outcome.kind) ?? outcome;
      error.query = errors;
      errors.set(error.kind, error);
      return error;
    });
  }

  /**
   * Pings every master, and gives up the connection when one does not reply in time.
   *
   * @throws CounterStoreError when one of them does not reply.
   */
  ping(): Promise<void> {
    return this.use(async (client) => {
      try {
        await inTime(Promise.all(mastersOf(client).map((master) => master.ping())));
      } catch (error) {
        if (error instanceof DeadlineError) {
          this.replace(client, error);
        }
        throw error;
      }
    });
  }

  /**
   * Returns the ends of all bans in force, by key, in milliseconds since the Unix epoch.
   *
   * @param pattern of the keys.
   * @param offsetMs milliseconds to add to each server's clock.
   * @throws CounterStoreError when one of the masters does not reply.
   */
  bans(pattern: string, offsetMs: number): Promise<Map<string, number>> {
    return this.use(async (client) => {
      const bans = new Map<string, number>();
      const findOn = async (master: Redis) => {
        const [seconds, microseconds] = await inTime(master.time());
        const nowMs = Number(seconds) * 1000 + Math.floor(Number(microseconds) / 1000) + offsetMs;
        const read = async (key: string) => {
          // By the client, as a key may be moving to another master of the Cluster just now.
          const untilMs = Number(await nullOnReplyError(client.hget(key, 'bannedUntil'), 'wrongType'));
          if (untilMs > nowMs) {
            bans.set(key, untilMs);
          }
        };
        let cursor = '0';
        do {
          const [next, keys] = await inTime(master.scan(cursor, 'MATCH', pattern, 'COUNT', SCAN_COUNT));
          await inTime(Promise.all(keys.map(read)));
          cursor = next;
        } while (cursor !== '0');
      };
      await Promise.all(mastersOf(client).map(findOn));
      return bans;
    });
  }

  private async use<T>(query: (client: RedisClient) => Promise<T>): Promise<T> {
    if (this.client === null) {
      throw notConnected(this.fault);
    }
    try {
      return await query(this.client);
    } catch (error) {
      throw redisFailure(error);
    }
  }

  private async open(): Promise<void> {
    const client = await openClient(this.addresses);
    if (this.isClosed) {
      client.disconnect();
      return;
    }
    let fault: unknown = new Error('the connection was closed');
    client.on('error', (error) => (fault = error));
    client.on('node error', (error) => (fault = error));
    client.once('close', () => this.replace(client, fault));
    // ioredis would queue calls to a master of a Cluster that is not connected, and not report whether it sent them.
    client.on('-node', ({ options }: Redis) => options.readOnly || this.replace(client, fault));
    this.client = client;
    if (this.logged.size > 0) {
      this.logged.clear();
      this.logger.warn('Redis is there again');
    }
  }

  /** Gives up the client, and opens another. The outcome of calls in flight is unknown. */
  private replace(client: RedisClient, fault: unknown): void {
    if (this.client === client) {
      this.client = null;
      client.disconnect();
      this.openLater(fault);
    }
  }

  private openLater(fault: unknown, delayMs = RETRY_INTERVAL_MS): void {
    if (this.isClosed) {
      return;
    }
    this.fault = fault;
    this.logOnce(`Redis cannot be used, and is tried again: ${databaseReason(fault)}`);
    this.retry = setTimeout(() => {
      const nextMs = performance.now() + RETRY_INTERVAL_MS;
      this.open().catch((error: unknown) => this.openLater(error, nextMs - performance.now()));
    }, delayMs).unref();
  }

  private logOnce(line: string): void {
    if (!this.logged.has(line)) {
      this.logged.set(line, true);
      this.logger.warn(line);
    }
  }
}

/** @throws DeadlineError when the reply does not arrive in time. */
function inTime<T>(reply: Promise<T>): Promise<T> {
  return withinDeadline(reply, REPLY_DEADLINE_MS);
}
