import { once } from 'node:events';
import { Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { Cluster } from 'ioredis';
import { LRUCache } from 'lru-cache';
import { databaseReason } from '../../database/access/availability.js';
import { DeadlineError, withinDeadline } from '../../database/access/deadline.js';
import type { UnavailableError } from '../../database/access/unavailable-error.js';
import { type Environment, InvalidEnvironmentError } from '../../process/settings/environment.js';
import { LEVEL_FALLS_AFTER_MS } from '../rules/ban.js';
import {
  type BucketRequests,
  type CountedBucket,
  isBanned,
  type RateLimitRequest,
} from '../rules/rate-limit-decision.js';
import {
  CHECK_DEADLINE_MS,
  CounterStore,
  counterStoreError,
  QUIET_MS,
  REPLY_DEADLINE_MS,
} from './counter-store.js';
import { type Call, connect, createClient, findKeyOfEachMaster, type RedisClient } from './redis-client.js';

/** The time for all checks of all servers at the start. */
const CONNECT_DEADLINE_MS = 3000;
/** There may be tens of thousands of bans. */
const BANS_DEADLINE_MS = 3000;
/** How many bans are read at once; counting waits meanwhile. */
const BANS_AT_ONCE = 1000;
/** Bans that are known to be in the index. One beyond these is written again. */
const MAX_INDEXED = 50_000;
/** More than there are pings in a minute. */
const PINGS_MAX = 1_000_000;

/** Of `consume.lua`. */
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

/** Counts in Redis or Valkey, by one call of `consume.lua` for each bucket of a batch. */
export class RedisCounterStore extends CounterStore implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger(RedisCounterStore.name);
  private client: RedisClient;
  /** The last error of the connection, which explains why calls were not sent. */
  private connectionError: unknown;
  private lastReplyMs = performance.now();
  /** The ends of the bans that this replica has written to the index, by bucket key. */
  private readonly indexed = new LRUCache<string, number>({ max: MAX_INDEXED });
  private isIndexFailing = false;

  constructor(
    environment: Environment,
    private readonly quietMs = QUIET_MS,
  ) {
    super(environment);
    this.client = createClient(environment.COUNTER_STORE_URL ?? []);
  }

  /**
   * Connects. If no server can be reached, the service starts nevertheless, and connects later.
   *
   * @throws InvalidEnvironmentError if a server was reached that must not count.
   */
  async onModuleInit(): Promise<void> {
    this.follow(this.client);
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

  /**
   * Counts on every master, because a server that replies may refuse to write. Connects anew if one does not
   * reply, because the address may lead to another server.
   */
  async ping(): Promise<void> {
    try {
      await this.send(() => this.countPing());
    } catch (error) {
      if ((error as UnavailableError).cause instanceof DeadlineError) {
        this.reconnect();
      }
      throw error;
    }
  }

  /** Leaves a client alone that is connecting: one that queries Sentinels would never connect again. */
  override reconnect(): void {
    if (this.client instanceof Cluster || this.client.status !== 'connecting') {
      this.client.disconnect(true);
    }
  }

  async liftBan(bucketKey: string): Promise<Date | null> {
    const untilMs = await this.send(() => this.client.liftBan(this.toKey(bucketKey)));
    return untilMs === null ? null : new Date(untilMs as number);
  }

  protected read(request: RateLimitRequest): Promise<CountedBucket> {
    return this.send(() => this.countBucket({ ...request, count: 0, banThreshold: null }));
  }

  /**
   * Reads the bans of the index, or of some buckets, from their buckets: a ban may have been lifted, or begun
   * anew. Those of some buckets are written to the index again, because it may have been lost.
   */
  protected async readBans(bucketKeys?: readonly string[]): Promise<Map<string, Date>> {
    const bans = new Map<string, Date>();
    const readAll = async () => {
      const [seconds, microseconds] = await this.client.time();
      const nowMs = Number(seconds) * 1000 + Number(microseconds) / 1000;
      const keys = bucketKeys ?? (await this.client.zrangebyscore(this.indexKey, nowMs, '+inf'));
      for (let start = 0; start < keys.length; start += BANS_AT_ONCE) {
        const some = keys.slice(start, start + BANS_AT_ONCE);
        const ends = await Promise.all(some.map((key) => this.client.hget(this.toKey(key), 'bannedUntil')));
        some.forEach((key, index) => {
          if (Number(ends[index]) > nowMs) {
            bans.set(key, new Date(Number(ends[index])));
          }
        });
      }
    };
    await this.send(readAll, BANS_DEADLINE_MS);
    bucketKeys?.forEach((key) => this.indexed.delete(key));
    await this.indexBans([...bans].map(([bucketKey, end]) => [bucketKey, end.getTime()]));
    return bans;
  }

  protected async count(buckets: Map<string, BucketRequests>): Promise<Map<string, CountedBucket | Error>> {
    let isConnected = false;
    const outcomes = await this.send(() => {
      isConnected = this.client.status === 'ready';
      const countOne = (bucket: BucketRequests) => this.countBucket(bucket).catch((error: Error) => error);
      return Promise.all([...buckets.values()].map(countOne));
    });
    const refusal = outcomes.some(isReply) ? await this.findRefusal() : null;
    const counted = new Map<string, CountedBucket | Error>();
    [...buckets.keys()].forEach((bucketKey, index) => {
      const outcome = outcomes[index] as CountedBucket | Error;
      const isFailure = outcome instanceof Error;
      const failure = isFailure && ((isReply(outcome) && refusal) || this.failure(outcome, isConnected));
      counted.set(bucketKey, failure || outcome);
    });
    await this.indexBans(
      [...counted].flatMap(([bucketKey, bucket]) => {
        const isOver = bucket instanceof Error || !isBanned(bucket);
        return isOver ? [] : [[bucketKey, bucket.bannedUntilMs!]];
      }),
    );
    return counted;
  }

  private async connect(): Promise<void> {
    const { client, unchecked } = await connect(this.client, this.environment.COUNTER_STORE_URL ?? []);
    if (client !== this.client) {
      this.follow(client);
      this.client = client;
    }
    this.warnings = unchecked.map((server) => {
      const message =
        `COUNTER_STORE_URL: the maxmemory-policy of ${server} could not be checked. Allow the user to run ` +
        'INFO and restart, or make sure that the policy is noeviction; with any other, counts and bans are ' +
        'forgotten when memory is full';
      this.logger.warn(message);
      return { code: 'eviction_policy_unknown', message };
    });
  }

  private follow(client: RedisClient): void {
    client.on('error', (error) => (this.connectionError = error));
    // The server of the next connection may lack the index.
    client.on('ready', () => this.indexed.clear());
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

  private async send<T>(query: () => Promise<T>, deadlineMs = REPLY_DEADLINE_MS): Promise<T> {
    let isConnected = false;
    let isOver = false;
    try {
      const reply = await withinDeadline(
        this.replaceSilent().then(() => {
          if (isOver) {
            throw new DeadlineError(deadlineMs, false);
          }
          isConnected = this.client.status === 'ready';
          return query();
        }),
        deadlineMs,
      );
      this.lastReplyMs = performance.now();
      return reply;
    } catch (error) {
      isOver = true;
      throw (isReply(error) && (await this.findRefusal())) || this.failure(error, isConnected);
    }
  }

  /**
   * Connects anew if the connection is dead after a quiet time. A ping checks it, because a count may not be
   * repeated. The connections of a Cluster have keep-alive alone.
   */
  private async replaceSilent(): Promise<void> {
    const { client } = this;
    const isQuiet = performance.now() - this.lastReplyMs >= this.quietMs;
    if (!isQuiet || client instanceof Cluster || client.status !== 'ready') {
      return;
    }
    const ping = withinDeadline(client.ping(), CHECK_DEADLINE_MS);
    const reason: unknown = await ping.catch((error: unknown) => error);
    if (reason instanceof DeadlineError && !reason.wasLate) {
      client.disconnect(true);
      await once(client, 'ready');
    }
  }

  /**
   * Returns the error of a store that cannot count, or null if it can. After a reply that is an error, this
   * decides whether all buckets are affected, or only those whose values Redis rejected.
   */
  private async findRefusal(): Promise<UnavailableError | null> {
    const isConnected = this.client.status === 'ready';
    const ping = () => withinDeadline(this.countPing(), REPLY_DEADLINE_MS);
    try {
      // The client closes the connection after a reply by which its address may lead to another server.
      await ping().catch((error: unknown) => (isReply(error) ? Promise.reject(error) : ping()));
      return null;
    } catch (error) {
      const failure = isReply(error)
        ? counterStoreError(error, false, 'refused')
        : this.failure(error, isConnected);
      return failure.reason === 'refused' ? failure : null;
    }
  }

  private countPing(): Promise<unknown> {
    const keys = findKeyOfEachMaster(this.client, `${this.prefix}ping`);
    const request = { bucketKey: '', count: 1, perMinute: PINGS_MAX, perDay: null, banThreshold: null };
    return Promise.all(keys.map((key) => this.countBucket(request, key)));
  }

  /** @param isConnected whether the client was connected when it got the call. */
  private failure(error: unknown, isConnected: boolean): UnavailableError {
    if (error instanceof DeadlineError) {
      return counterStoreError(error, isConnected);
    }
    if (isReply(error)) {
      return counterStoreError(error, !error.message.startsWith('CLUSTERDOWN'));
    }
    // A Cluster stays connected while one of its masters refuses connections.
    const isLost = isConnected && !(this.client instanceof Cluster);
    return counterStoreError(isLost ? error : (this.connectionError ?? error), isLost);
  }

  /** Writes bans to the index, unless this replica has done so. If it fails, a later request tries again. */
  private async indexBans(bans: [bucketKey: string, untilMs: number][]): Promise<void> {
    const missing = bans.filter(([bucketKey, untilMs]) => this.indexed.get(bucketKey) !== untilMs);
    if (missing.length > 0) {
      const writing = this.client.indexBans(this.indexKey, ...missing.flat());
      await withinDeadline(writing, REPLY_DEADLINE_MS).then(
        () => {
          missing.forEach(([bucketKey, untilMs]) => this.indexed.set(bucketKey, untilMs));
          this.isIndexFailing = false;
        },
        (error: unknown) => this.warnOfIndex(error),
      );
    }
  }

  private warnOfIndex(error: unknown): void {
    if (!this.isIndexFailing) {
      this.isIndexFailing = true;
      const reason = databaseReason(error);
      this.logger.warn(`Could not index bans in Redis, so lists and events may lack some: ${reason}`);
    }
  }

  private async countBucket(
    bucket: BucketRequests,
    key = this.toKey(bucket.bucketKey),
  ): Promise<CountedBucket> {
    const { count, perMinute, perDay, banThreshold } = bucket;
    const limits = [perMinute, perDay ?? '', banThreshold ?? '', LEVEL_FALLS_AFTER_MS];
    const call: Call = [key, count, ...limits, ...this.environment.BAN_DURATIONS];
    const [allowed, denied, denials, bannedUntilMs, minute, minuteUsed, day, dayUsed, nowMs] =
      (await this.client.consumeRequests(...call)) as Reply;
    return { allowed, denied, denials, bannedUntilMs, minute, minuteUsed, day, dayUsed, nowMs };
  }

  /** The braces keep all keys of a bucket on one master of a Cluster. */
  private toKey(bucketKey: string): string {
    return `${this.prefix}{${bucketKey}}`;
  }

  /** The key of the index of bans: the ends, in milliseconds since 1970, by bucket key. */
  private get indexKey(): string {
    return `${this.prefix}bans`;
  }

  /** Production and staging may share a Redis. */
  private get prefix(): string {
    return `animal-store:${this.environment.APP_ENV}:`;
  }
}

/** Whether Redis replied with an error: the call was not executed, or not to its end. */
const isReply = (outcome: unknown): outcome is Error => (outcome as Error).name === 'ReplyError';
