import { readEnvironment } from '../../src/process/settings/environment.js';
import type { CounterStore } from '../../src/rate-limit/stores/counter-store.js';
import { LocalCounterStore } from '../../src/rate-limit/stores/local-counter-store.js';
import { PostgresCounterStore } from '../../src/rate-limit/stores/postgres-counter-store.js';
import { RedisCounterStore } from '../../src/rate-limit/stores/redis-counter-store.js';
import { createDatabase, type TestDatabase } from './database/database.js';
import { hasMovableRedis, type RedisProgram, type RedisServer, startMovableRedis } from './programs/redis.js';
import { testTimeAheadMs } from './time/test-time.js';
import { openPrisma } from './database/queries.js';

const BAN_DURATIONS_DEFAULT = '1m,5m,1h,24h';

/** The stored counters of a bucket. */
interface StoredCounter {
  minute: number;
  minuteUsed: number;
  day: number;
  dayUsed: number;
  denials: number;
  bannedUntil: Date | null;
  banLevel: number;
}

/** What every counter store does. */
export type AnyCounterStore = Pick<CounterStore, 'consume' | 'peek' | 'ping' | 'bans' | 'liftBan'>;

/** Reads what is stored, with the store's own tools. */
interface Stored {
  /** Returns the stored counters of a bucket, if any. */
  findCounter(bucketKey: string): Promise<StoredCounter | undefined>;
  /** Returns the keys of all stored buckets. */
  bucketKeys(): Promise<string[]>;
}

/** One store of counters, for as many replicas as a test opens. */
export interface CounterHome extends Stored {
  /** Opens the counter store of one more replica. */
  open(banDurations?: string): Promise<AnyCounterStore>;
  /** Closes all open stores and deletes their counters. */
  clear(): Promise<void>;
  stop(): Promise<void>;
}

/** One store in which several services can count, and their database. */
export interface ServiceHome extends CounterHome {
  database: TestDatabase;
  /** The settings of every service that counts here. */
  settings: { APP_ENV: 'staging'; DATABASE_URL: string; COUNTER_STORE_URL: string };
}

function storedInPostgres(database: TestDatabase): Stored {
  return {
    findCounter: async (bucketKey) => {
      const [row] = await database.query<StoredCounter & Record<string, unknown>>(
        `SELECT minute_number AS minute, minute_used AS "minuteUsed",
           day_number AS day, day_used AS "dayUsed",
           minute_denied AS denials,
           banned_until AS "bannedUntil", ban_level AS "banLevel"
         FROM rate_limit_counters WHERE bucket_key = $1`,
        [bucketKey],
      );
      return row;
    },
    bucketKeys: async () => {
      const rows = await database.query<{ bucket_key: string }>('SELECT bucket_key FROM rate_limit_counters');
      return rows.map(({ bucket_key }) => bucket_key);
    },
  };
}

/** The key of a bucket in Redis. */
export const redisKey = (bucketKey: string) => `animal-store:staging:{${bucketKey}}`;

function storedInRedis({ operator }: RedisServer): Stored {
  return {
    findCounter: async (bucketKey) => {
      const stored = await operator.hgetall(redisKey(bucketKey));
      const { bannedUntil = null, banLevel = 0, refusals = 0, ...numbers } = stored;
      return Object.keys(stored).length === 0
        ? undefined
        : ({
            ...Object.fromEntries(Object.entries(numbers).map(([name, text]) => [name, Number(text)])),
            denials: Number(refusals),
            bannedUntil: bannedUntil === null ? null : new Date(Number(bannedUntil)),
            banLevel: Number(banLevel),
          } as StoredCounter);
    },
    bucketKeys: async () =>
      (await operator.keys(redisKey('*'))).map((key) => key.slice(redisKey('').length - 1, -1)),
  };
}

export async function postgresHome(): Promise<ServiceHome> {
  const database = await createDatabase();
  await database.followTestTime();
  const settings = { APP_ENV: 'staging', DATABASE_URL: database.url, COUNTER_STORE_URL: '' } as const;
  const opened: PostgresCounterStore[] = [];
  return {
    ...storedInPostgres(database),
    database,
    settings,
    open: async (BAN_DURATIONS = BAN_DURATIONS_DEFAULT) => {
      const environment = readEnvironment({ ...settings, BAN_DURATIONS });
      const store = new PostgresCounterStore(environment, openPrisma(environment));
      opened.push(store);
      return store;
    },
    clear: async () => {
      await Promise.all(opened.splice(0).map((store) => store.onApplicationShutdown()));
      await database.query('DELETE FROM rate_limit_counters');
    },
    stop: () => database.drop(),
  };
}

async function redisHome(program: RedisProgram): Promise<ServiceHome> {
  const [database, server] = await Promise.all([createDatabase(), startMovableRedis({}, { program })]);
  await database.followTestTime();
  const settings = { APP_ENV: 'staging', DATABASE_URL: database.url, COUNTER_STORE_URL: server.url } as const;
  const opened: RedisCounterStore[] = [];
  return {
    ...storedInRedis(server),
    database,
    settings,
    open: async (BAN_DURATIONS = BAN_DURATIONS_DEFAULT) => {
      const store = new RedisCounterStore(readEnvironment({ ...settings, BAN_DURATIONS }));
      opened.push(store);
      await store.onModuleInit();
      return store;
    },
    clear: async () => {
      opened.splice(0).forEach((store) => store.onApplicationShutdown());
      await server.operator.flushall();
    },
    stop: async () => {
      await Promise.all([database.drop(), server.stop()]);
    },
  };
}

/** A memory that all replicas of the test share, without bans; outside of tests, each replica has its own. */
async function localHome(): Promise<CounterHome> {
  const empty = () => new LocalCounterStore(() => 0, [])['counters'];
  let counters = empty();
  return {
    open: async (BAN_DURATIONS = BAN_DURATIONS_DEFAULT) => {
      const banDurations = readEnvironment({ BAN_DURATIONS }).BAN_DURATIONS;
      const store = new LocalCounterStore(timeOfTurn(), banDurations);
      Object.assign(store, { counters });
      return {
        consume: async (request) => store.consume(request),
        peek: async (request) => store.peek(request),
        ping: async () => {},
        bans: async () => new Map(),
        liftBan: async () => null,
      };
    },
    findCounter: async (bucketKey) => {
      const counter = counters.quotas.get(bucketKey) ?? counters.addresses.get(bucketKey);
      const end = counter?.bannedUntilMs ?? null;
      return counter && { ...counter, bannedUntil: end === null ? null : new Date(end), banLevel: 0 };
    },
    bucketKeys: async () => [...counters.quotas.keys()],
    clear: async () => {
      counters = empty();
    },
    stop: async () => {},
  };
}

/**
 * Returns a clock that stands still during each turn of the event loop, unless the test travels. Concurrent
 * requests are then counted at one instant, as the shared stores count a batch.
 */
function timeOfTurn(): () => number {
  let turn: { nowMs: number; aheadMs: number } | null = null;
  return () => {
    const aheadMs = testTimeAheadMs();
    if (turn?.aheadMs !== aheadMs) {
      turn = { nowMs: Date.now() + aheadMs, aheadMs };
      setImmediate(() => (turn = null));
    }
    return turn.nowMs;
  };
}

type Home<Type> = [name: string, start: () => Promise<Type>];

const redisIfHere = (name: string, program: RedisProgram): Home<ServiceHome>[] =>
  hasMovableRedis(program) ? [[name, () => redisHome(program)]] : [];

/** The counter stores that several services can share, by name, with a function that starts one. */
export const sharedStores: Home<ServiceHome>[] = [
  ['PostgreSQL', postgresHome],
  ...redisIfHere('Redis', 'redis-server'),
];

/** All counter stores, by name, with a function that starts one. */
export const counterStores: Home<CounterHome>[] = [
  ...sharedStores,
  ...redisIfHere('Valkey', 'valkey-server'),
  ['memory', localHome],
];
