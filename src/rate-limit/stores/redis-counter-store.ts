import { Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { Cluster, type Redis } from 'ioredis';
import { databaseReason, isRejectedValue } from '../../database/availability.js';
import { DeadlineError, withinDeadline } from '../../database/deadline.js';
import { type Environment, InvalidEnvironmentError } from '../../settings/environment.js';
import { quotaBucketKey } from '../rules/bucket-key.js';
import { LEVEL_FALLS_AFTER_MS } from '../rules/ban.js';
import type { BucketRequests, CountedBucket, RateLimitRequest } from '../rules/rate-limit-decision.js';
import { CounterStore, type CounterStoreError, counterStoreError, DEADLINE_MS } from './counter-store.js';
import { type Call, connect, createClient, findMasters, type RedisClient } from './redis-client.js';

/** The time for all checks of all servers at the start. */
const CONNECT_DEADLINE_MS = 3000;
/** There may be tens of thousands of bans. */
const BANS_DEADLINE_MS = 3000;
/** About how many keys one SCAN passes; counting waits meanwhile. */
const SCAN_COUNT = 1000;

/** The reply of consume.lua. */
type Reply = [
  allowed: number,
  denied: number,
  denials: number,
  bannedUntilMs: number | null,
  minute: number,
  minuteUsed: number,
  day: number,
  dayUsed: number,
  nowMs: number,
];

/** Counts in Redis or Valkey, by one call of consume.lua for each bucket of a batch. */
export class RedisCounterStore extends CounterStore implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger(RedisCounterStore.name);
  private client: RedisClient;
  /** The last error of the connection, which explains why calls were not sent. */
  private connectionError: unknown;

  constructor(environment: Environment) {
    super(environment);
    this.client = createClient(environment.COUNTER_STORE_URL ?? []);
  }

  /**
   * Connects. If no server can be reached, the service starts nevertheless, and connects later.
   *
   * @throws InvalidEnvironmentError if a server was reached that must not count.
   */
  async onModuleInit(): Promise<void> {
    this.client.on('error', (error) => (this.connectionError = error));
    try {
      await withinDeadline(this.connect(), CONNECT_DEADLINE_MS);
    } catch (error) {
      if (error instanceof InvalidEnvironmentError) {
        throw error;
      }
      if (error instanceof DeadlineError) {
        this.reconnect();
      }
      this.connectLater(this.connectionError ?? error);
    }
  }

  onApplicationShutdown(): void {
    this.client.disconnect();
  }

  /** Pings every master, and connects anew if one does not reply: the address may lead to another server. */
  async ping(): Promise<void> {
    try {
      await this.send(Promise.all(findMasters(this.client).map((master) => master.ping())));
    } catch (error) {
      if ((error as Error).cause instanceof DeadlineError) {
        this.reconnect();
      }
      throw error;
    }
  }

  /**
   * Does not disturb a client that is connecting: it has timeouts, and one that queries Sentinels would never
   * connect again.
   */
  override reconnect(): void {
    if (this.client instanceof Cluster || this.client.status !== 'connecting') {
      this.client.disconnect(true);
    }
  }

  async liftBan(bucketKey: string): Promise<Date | null> {
    const untilMs = await this.send(this.client.liftBan(this.toKey(bucketKey)));
    return untilMs === null ? null : new Date(untilMs as number);
  }

  protected async read(request: RateLimitRequest): Promise<CountedBucket> {
    const call = this.consumeCall({ ...request, count: 0, banThreshold: null });
    const reply = await this.send(this.client.consumeRequests(...call));
    return parseReply(reply as Reply);
  }

  protected async readBans(): Promise<Map<string, Date>> {
    const bans = new Map<string, Date>();
    const masters = findMasters(this.client);
    await this.send(Promise.all(masters.map((master) => this.addBans(master, bans))), BANS_DEADLINE_MS);
    return bans;
  }

  protected async count(buckets: Map<string, BucketRequests>): Promise<Map<string, CountedBucket | Error>> {
    const { client } = this;
    const isConnected = client.status === 'ready';
    const countOne = async (bucket: BucketRequests) => {
      try {
        return parseReply((await client.consumeRequests(...this.consumeCall(bucket))) as Reply);
      } catch (error) {
        return this.failure(error, isConnected);
      }
    };
    const entries = [...buckets].map(async ([key, bucket]) => [key, await countOne(bucket)] as const);
    return new Map(await this.send(Promise.all(entries)));
  }

  private async connect(): Promise<void> {
    const client = await connect(this.client, this.environment.COUNTER_STORE_URL ?? []);
    client.on('error', (error) => (this.connectionError = error));
    this.client = client;
  }

  /** Checks the servers once the client has reached one by itself. */
  private connectLater(reason: unknown): void {
    this.logger.warn(`Redis is unavailable, and is tried again: ${databaseReason(reason)}`);
    this.client.once('ready', () => {
      this.connect().catch((error: unknown) => {
        if (error instanceof InvalidEnvironmentError) {
          this.logger.error(error.message);
        } else {
          this.connectLater(error);
        }
      });
    });
  }

  /** @throws CounterStoreError if the reply is an error, or does not arrive in time. */
  private async send<T>(reply: Promise<T>, deadlineMs = DEADLINE_MS): Promise<T> {
    const isConnected = this.client.status === 'ready';
    try {
      return await withinDeadline(reply, deadlineMs);
    } catch (error) {
      throw this.failure(error, isConnected);
    }
  }

  /** @param isConnected whether the client was connected when it got the call. */
  private failure(error: unknown, isConnected: boolean): CounterStoreError {
    const { name, message } = error as Error;
    if (error instanceof DeadlineError) {
      return counterStoreError(error, isConnected);
    }
    if (isRejectedValue(error)) {
      // The server replied, so it is available.
      return counterStoreError(error, true);
    }
    if (name === 'ReplyError') {
      return counterStoreError(error, isConnected && !message.startsWith('CLUSTERDOWN'));
    }
    // A Cluster stays connected while one of its masters refuses connections.
    const isLost = isConnected && !(this.client instanceof Cluster);
    return counterStoreError(isLost ? error : (this.connectionError ?? error), isLost);
  }

  /** Adds the bans that a master has. */
  private async addBans(master: Redis, bans: Map<string, Date>): Promise<void> {
    const [seconds, microseconds] = await master.time();
    const nowMs = Number(seconds) * 1000 + Number(microseconds) / 1000;
    const match = this.toKey(quotaBucketKey('*'));
    for await (const keys of master.scanStream({ match, count: SCAN_COUNT })) {
      await Promise.all(
        (keys as string[]).map(async (key) => {
          // The client finds the master of the key, which may be moving within the Cluster just now.
          const untilMs = Number(await this.client.hget(key, 'bannedUntil'));
          if (untilMs > nowMs) {
            bans.set(key.slice(this.toKey('').length - 1, -1), new Date(untilMs));
          }
        }),
      );
    }
  }

  private consumeCall({ bucketKey, count, perMinute, perDay, banThreshold }: BucketRequests): Call {
    return [
      this.toKey(bucketKey),
      count,
      perMinute,
      perDay ?? '',
      banThreshold ?? '',
      LEVEL_FALLS_AFTER_MS,
      ...this.environment.BAN_DURATIONS,
    ];
  }

  /**
   * Production and staging may share a Redis. The braces keep all keys of a bucket on one master of a
   * Cluster.
   */
  private toKey(bucketKey: string): string {
    return `animal-store:${this.environment.APP_ENV}:{${bucketKey}}`;
  }
}

function parseReply(reply: Reply): CountedBucket {
  const [allowed, denied, denials, untilMs, minute, minuteUsed, day, dayUsed, nowMs] = reply;
  const bannedUntil = untilMs === null ? null : new Date(untilMs);
  return { allowed, denied, denials, bannedUntil, minute, minuteUsed, day, dayUsed, nowMs };
}
