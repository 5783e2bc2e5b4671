import { readEnvironment } from '../../src/settings/environment.js';
import type { CounterStore } from '../../src/rate-limit/stores/counter-store.js';
import { type BucketCache, LocalCounterStore } from '../../src/rate-limit/stores/local-counter-store.js';
import { PostgresCounterStore } from '../../src/rate-limit/stores/postgres-counter-store.js';
import { RedisCounterStore } from '../../src/rate-limit/stores/redis-counter-store.js';
import type { TestClock } from './clock.js';
import { createDatabase, type TestDatabase } from './database.js';
import { hasRedis, type RedisServer, startRedis } from './redis.js';

const LADDER = '1m,5m,1h,24h';

/** What is stored of a subject. */
export interface StoredCounter {
  minute: number;
  minuteUsed: number;
  day: number;
  dayUsed: number;
  refusals: number;
  bannedUntil: Date | null;
  banLevel: number;
}

/** What is stored, by the store's own tools. */
interface Stored {
  /** What is stored of a subject; undefined where there is nothing. */
  counterOf(subject: string): Promise<StoredCounter | undefined>;
  /** All of whom anything is stored. */
  subjects(): Promise<string[]>;
}

/** One place where counts are kept, for as many replicas as a test opens. */
export interface CounterHome extends Stored {
  /** The counter store of one more replica. */
  open(clock: TestClock, banDurations?: string): Promise<CounterStore>;
  /** Closes all that were opened, and forgets what they have counted. */
  clear(): Promise<void>;
  stop(): Promise<void>;
}

/** One place where whole services count, and the database that has the rest. */
export interface ServiceHome extends Stored {
  database: TestDatabase;
  /** What every service that counts here is set to. */
  settings: { APP_ENV: 'staging'; DATABASE_URL: string; COUNTER_STORE: string };
  stop(): Promise<void>;
}

function storedInPostgres(database: TestDatabase): Stored {
  return {
    counterOf: async (subject) => {
      const [row] = await database.query<StoredCounter & Record<string, unknown>>(
        `SELECT minute, minute_used AS "minuteUsed", day, day_used AS "dayUsed", refusals,
           banned_until AS "bannedUntil", ban_step AS "banLevel"
         FROM rate_limit_counters WHERE subject = $1`,
        [subject],
      );
      return row;
    },
    subjects: async () => {
      const rows = await database.query<{ subject: string }>('SELECT subject FROM rate_limit_counters');
      return rows.map(({ subject }) => subject);
    },
  };
}

function storedInRedis({ operator }: RedisServer): Stored {
  const keyOf = (subject: string) => `animal-store:staging:{${subject}}`;
  return {
    counterOf: async (subject) => {
      const stored = await operator.hgetall(keyOf(subject));
      const { bannedUntil = null, banStep: banLevel = 0, refusals = 0, ...numbers } = stored;
      return Object.keys(stored).length === 0
        ? undefined
        : ({
            ...Object.fromEntries(Object.entries(numbers).map(([name, text]) => [name, Number(text)])),
            refusals: Number(refusals),
            bannedUntil: bannedUntil === null ? null : new Date(Number(bannedUntil)),
            banLevel: Number(banLevel),
          } as StoredCounter);
    },
    subjects: async () => (await operator.keys('*')).map((key) => key.slice(keyOf('').length - 1, -1)),
  };
}

async function postgresHome(): Promise<CounterHome> {
  const database = await createDatabase();
  let opened: PostgresCounterStore[] = [];
  return {
    ...storedInPostgres(database),
    open: async (clock, BAN_DURATIONS = LADDER) => {
      const environment = readEnvironment({ APP_ENV: 'staging', DATABASE_URL: database.url, BAN_DURATIONS });
      const store = new PostgresCounterStore(environment, clock);
      opened.push(store);
      return store;
    },
    clear: async () => {
      await Promise.all(opened.map((store) => store.onApplicationShutdown()));
      opened = [];
      await database.query('DELETE FROM rate_limit_counters');
    },
    stop: () => database.drop(),
  };
}

async function redisHome(): Promise<CounterHome> {
  const server = await startRedis();
  let opened: RedisCounterStore[] = [];
  return {
    ...storedInRedis(server),
    open: async (clock, BAN_DURATIONS = LADDER) => {
      const environment = readEnvironment({ COUNTER_STORE: server.url, BAN_DURATIONS });
      const store = new RedisCounterStore(environment, clock);
      opened.push(store);
      await store.onModuleInit();
      return store;
    },
    clear: async () => {
      opened.forEach((store) => store.onApplicationShutdown());
      opened = [];
      await server.operator.flushall();
    },
    stop: () => server.stop(),
  };
}

/** One memory, which in truth is one replica's alone. Nothing is reported to it. */
async function localHome(): Promise<CounterHome> {
  const forgetful = () => new LocalCounterStore(() => 0, []);
  let home = forgetful();
  return {
    open: async (clock, BAN_DURATIONS = LADDER) => {
      const banDurations = readEnvironment({ BAN_DURATIONS }).BAN_DURATIONS;
      const now = timeOfTurn(clock);
      const counters = home['counters'];
      const store = new LocalCounterStore(now, banDurations);
      Object.assign(store, { counters });
      return {
        consume: async (request) => store.consume(request),
        peek: async (request) => store.peek(request),
        reconcile: async () => {},
        bans: async () => bansIn(counters, banDurations.length > 0 ? now() : Number.POSITIVE_INFINITY),
        liftBan: async (bucketKey) => store.liftBan(bucketKey),
      };
    },
    counterOf: async (subject) => {
      const counters = home['counters'];
      return counters.quotas.get(subject) ?? counters.addresses.get(subject);
    },
    subjects: async () => [...home['counters'].quotas.keys()],
    clear: async () => {
      home = forgetful();
    },
    stop: async () => {},
  };
}

/** The ends of the bans that last beyond a time. */
function bansIn({ quotas }: BucketCache<StoredCounter>, nowMs: number): Map<string, Date> {
  const bans = new Map<string, Date>();
  for (const [bucketKey, { bannedUntil }] of quotas.entries()) {
    if (bannedUntil !== null && bannedUntil.getTime() > nowMs) {
      bans.set(bucketKey, bannedUntil);
    }
  }
  return bans;
}

/**
 * A time that stands still while one turn of the event loop lasts, unless the test travels: what is asked at once is then
 * judged at one instant, as the shared stores judge what goes in one question.
 */
function timeOfTurn(clock: TestClock): () => number {
  let turn: { nowMs: number; offsetMs: number } | null = null;
  return () => {
    const offsetMs = clock.storeOffsetMs;
    if (turn?.offsetMs !== offsetMs) {
      turn = { nowMs: clock.now(), offsetMs };
      setImmediate(() => (turn = null));
    }
    return turn.nowMs;
  };
}

async function postgresServiceHome(): Promise<ServiceHome> {
  const database = await createDatabase();
  return {
    ...storedInPostgres(database),
    database,
    settings: { APP_ENV: 'staging', DATABASE_URL: database.url, COUNTER_STORE: '' },
    stop: () => database.drop(),
  };
}

async function redisServiceHome(): Promise<ServiceHome> {
  const [database, server] = await Promise.all([createDatabase(), startRedis()]);
  return {
    ...storedInRedis(server),
    database,
    settings: { APP_ENV: 'staging', DATABASE_URL: database.url, COUNTER_STORE: server.url },
    stop: async () => {
      await Promise.all([database.drop(), server.stop()]);
    },
  };
}

const redisIsHere = hasRedis();

/** All that keep the specification of counting: the name, and how one is started. */
export const counterStores: [name: string, start: () => Promise<CounterHome>][] = [
  ['PostgreSQL', postgresHome],
  ['memory', localHome],
  ...(redisIsHere ? [['Redis', redisHome] as [string, typeof redisHome]] : []),
];

/** All that several services can share: the name, and how one is started. */
export const sharedStores: [name: string, start: () => Promise<ServiceHome>][] = [
  ['PostgreSQL', postgresServiceHome],
  ...(redisIsHere ? [['Redis', redisServiceHome] as [string, typeof redisServiceHome]] : []),
];
