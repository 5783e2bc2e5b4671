// Prisma's schema engine as WebAssembly, over the `pg` driver: the same engine that the Prisma CLI would
// otherwise download as a native binary. It is used by `schema-engine.mjs` (the CLI) and by
// `src/database/migrations/migrations.ts`.

import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import { PrismaPg } from '@prisma/adapter-pg';
import {
  bindMigrationAwareSqlAdapterFactory,
  ColumnTypeEnum,
  DriverAdapterError,
} from '@prisma/driver-adapter-utils';
import pg from 'pg';

import { isOneTransaction } from './migration-script.mjs';
import { configuration, findSchema, sessionSettings } from './session-settings.mjs';

const CONNECT_TIMEOUT_MS = 10_000;
/** As in the service: load balancers and NAT forget a quiet connection, some after a minute. */
const KEEP_ALIVE_DELAY_MS = 30_000;
/** For a server that is gone and never closes its end. */
const CLOSE_TIMEOUT_MS = 1_000;

/** The engine's own lock, which every migrating process takes. */
const MIGRATION_LOCK = 72_707_369;
/** How long to wait for another process that migrates. */
const TURN_TIMEOUT_MS = 120_000;
const TURN_RETRY_MS = 50;
const LOCK_NOT_AVAILABLE = '55P03';
const INTERNAL_ERROR = 'XX000';

/** How long a migration waits for a lock, behind which requests queue; until it tries again; in all. */
const LOCK_TIMEOUT_MS = 1_000;
const LOCK_RETRY_MS = 3_000;
const LOCK_PATIENCE_MS = 60_000;

/** Removes the role's timeouts, which are meant for requests. Older versions lack some. */
const NO_TIMEOUTS = [
  'statement_timeout',
  'transaction_timeout',
  'idle_in_transaction_session_timeout',
  'idle_session_timeout',
].map((name) => ({ name, value: '0', accepted: '^0$' }));

/** How many tables a message names. */
const LISTED_TABLES = 10;

/** PostgreSQL's numbers of the types `"char"`, the one-letter codes of its own catalogues, and `"char"[]`. */
const CHAR_OID = 18;
const CHAR_ARRAY_OID = 1002;

/** Returns the connection string of another database on the same server. */
export function withDatabase(connectionString, database) {
  const url = new URL(connectionString);
  url.pathname = `/${encodeURIComponent(database)}`;
  return url.href;
}

/**
 * Opens the engine; see the declarations beside this file.
 * The connection string may be absent only for a `diff` that reads no database.
 */
export async function openSchemaEngine({ connectionString, datamodels, log = () => {} }) {
  const { SchemaEngine } = await loadWebAssembly();
  const database = connectionString === undefined ? new NoDatabase() : new Database(connectionString);
  try {
    const engine = await SchemaEngine.new({ datamodels }, log, bindMigrationAwareSqlAdapterFactory(database));
    const applyMigrations = engine.applyMigrations.bind(engine);
    engine.applyMigrations = async (input) => {
      database.transactions = transactionsOf(input);
      await forgetFailed(database);
      return applyMigrations(input)
        .catch(rethrowFailedMigration)
        .catch((error) => rethrowNotEmpty(error, database));
    };
    for (const method of ['applyMigrations', 'markMigrationApplied', 'markMigrationRolledBack']) {
      const work = engine[method].bind(engine);
      engine[method] = async (input) => {
        await takeTurn(database.session);
        await createSchema(database.session, database.schema);
        return work(input);
      };
    }
    return { engine, close: () => database.close() };
  } catch (error) {
    await database.close();
    throw error;
  }
}

/**
 * Takes the engine's lock in its session until that is closed; the engine can then take it again. It would
 * itself give up after 10 s.
 */
async function takeTurn(session) {
  const deadline = performance.now() + TURN_TIMEOUT_MS;
  for (;;) {
    const { rows } = await session.query(`SELECT pg_try_advisory_lock(${MIGRATION_LOCK}) AS taken`);
    if (rows[0].taken) {
      return;
    }
    if (performance.now() > deadline) {
      const message = `Another process has been migrating this database for ${TURN_TIMEOUT_MS / 1000} s`;
      throw Object.assign(new Error(message), { code: LOCK_NOT_AVAILABLE });
    }
    await pause(TURN_RETRY_MS);
  }
}

/**
 * Creates a schema if it is missing, as the native engine does. `IF NOT EXISTS` would need the privilege all
 * the same.
 */
async function createSchema(pool, schema) {
  const { rows } = await pool.query('SELECT FROM pg_namespace WHERE nspname = $1', [schema]);
  if (rows.length === 0) {
    await pool.query(`CREATE SCHEMA ${pg.escapeIdentifier(schema)}`);
  }
}

/** Returns the names and scripts of migrations that are one transaction. */
function transactionsOf({ migrationsList }) {
  return migrationsList.migrationDirectories
    .map(({ path: name, migrationFile }) => ({ name, sql: migrationFile.content.value }))
    .filter(({ sql }) => sql !== undefined && isOneTransaction(sql));
}

/**
 * Records unfinished migrations as rolled back, so that the engine applies them again. A transaction that is
 * not recorded as finished has changed nothing, and none is in progress while this session has the lock.
 */
async function forgetFailed({ session, migrationsTable, transactions }) {
  const { rows } = await session.query('SELECT to_regclass($1) IS NOT NULL AS exists', [migrationsTable]);
  if (rows[0].exists) {
    await session.query(
      `UPDATE ${migrationsTable} SET rolled_back_at = now()
       WHERE finished_at IS NULL AND rolled_back_at IS NULL AND migration_name = ANY ($1)`,
      [transactions.map(({ name }) => name)],
    );
  }
}

export async function schemaEngineVersion() {
  return (await loadWebAssembly()).version();
}

let loading;

function loadWebAssembly() {
  loading ??= instantiate();
  return loading;
}

/** Replaces the package's entry, which imports the `.wasm` file as a module: Node needs a flag for that. */
async function instantiate() {
  const glue = await import('@prisma/schema-engine-wasm/schema_engine_bg');
  const gluePath = createRequire(import.meta.url).resolve('@prisma/schema-engine-wasm/schema_engine_bg');
  const wasm = await readFile(path.join(path.dirname(gluePath), 'schema_engine_bg.wasm'));
  const { instance } = await WebAssembly.instantiate(wasm, { './schema_engine_bg.js': withIdleTimers(glue) });
  glue.__wbg_set_wasm(instance.exports);
  instance.exports.__wbindgen_start();
  // The engine reports a panic through this object.
  globalThis.PRISMA_WASM_PANIC_REGISTRY = {
    set_message(message) {
      throw new Error(`The schema engine panicked: ${message}`);
    },
  };
  return glue;
}

/** The engine never clears the timer of its lock (10 s), which would keep the process running. */
function withIdleTimers(glue) {
  const setIdleTimeout = (callback, delayMs) => setTimeout(() => callback(), delayMs).unref();
  const names = Object.keys(glue).filter((name) => name.startsWith('__wbg_setTimeout_'));
  return { ...glue, ...Object.fromEntries(names.map((name) => [name, setIdleTimeout])) };
}

/** Throws P3018 with the text of the native engine, because the text of this one names its own functions. */
function rethrowFailedMigration(error) {
  const migrationName = /migration_name="(.+?)"/.exec(error.message)?.[1];
  if (migrationName === undefined) {
    throw error;
  }
  const [external] = error.message.split('\n   0: ');
  const databaseError = external.replace(/^external connector error\nError querying the database: /, '');
  const message =
    'A migration failed to apply. New migrations cannot be applied before the error is recovered from. ' +
    'Read more about how to resolve migration issues in a production database: ' +
    'https://pris.ly/d/migrate-resolve\n\n' +
    `Migration name: ${migrationName}\n\nDatabase error:\n${databaseError}`;
  throw Object.assign(new Error(message, { cause: error }), { code: 'P3018', migrationName });
}

/** Throws P3005, for a schema with tables but without migrations, with the tables and what to do. */
async function rethrowNotEmpty(error, { session, schema }) {
  if (error.code !== 'P3005') {
    throw error;
  }
  const { rows } = await session.query(
    `SELECT relname AS name FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
     WHERE nspname = $1 AND relkind = 'r' ORDER BY relname LIMIT ${LISTED_TABLES + 1}`,
    [schema],
  );
  const names = rows.map(({ name }, index) => (index < LISTED_TABLES ? name : '…')).join(', ');
  const message =
    `The schema ${schema} contains tables of others: ${names}. Name an empty database in ` +
    'DATABASE_URL, or add ?schema=animals to it for a schema of its own, which is created if it is missing.';
  throw Object.assign(new Error(message, { cause: error }), { code: error.code });
}

/** Opens the connections of the engine, and closes all of them. */
class Database {
  provider = 'postgres';
  adapterName = '@prisma/adapter-pg';
  /** The engine's own connection. */
  session;
  /** The schema of the tables, in the shadow database too. */
  schema;
  /** The names and scripts of those being applied that are one transaction. */
  transactions = [];
  #connectionString;
  #pools = new Set();

  constructor(connectionString) {
    this.#connectionString = connectionString;
  }

  get migrationsTable() {
    return `${pg.escapeIdentifier(this.schema)}._prisma_migrations`;
  }

  async connect() {
    const { adapter, pool } = await this.#open(this.#connectionString);
    this.session ??= pool;
    return adapter;
  }

  /** Connects to a new, empty database in which the engine replays the migrations. */
  async connectToShadowDb() {
    const name = `prisma_migrate_shadow_db_${randomUUID()}`;
    const maintenance = await this.connect();
    await maintenance.executeScript(`CREATE DATABASE "${name}"`);
    const { adapter: shadow, pool } = await this.#open(withDatabase(this.#connectionString, name));
    await createSchema(pool, this.schema);
    const disconnect = shadow.dispose.bind(shadow);
    shadow.dispose = async () => {
      // PostgreSQL does not drop a database with connections.
      await disconnect();
      await maintenance.executeScript(`DROP DATABASE IF EXISTS "${name}"`);
      await maintenance.dispose();
    };
    return shadow;
  }

  async close() {
    await Promise.all([...this.#pools].map((pool) => this.#end(pool)));
  }

  async #open(connectionString) {
    const pool = new MigrationPool(connectionString);
    this.#pools.add(pool);
    this.schema ??= await findSchema(pool, connectionString);
    const adapter = await new PrismaPg(pool, { schema: this.schema }).connect();
    const queryRaw = adapter.queryRaw.bind(adapter);
    adapter.queryRaw = async (query) => {
      const { columnTypes, ...result } = await queryRaw(query);
      return { ...result, columnTypes: columnTypes.map(characterForArray) };
    };
    // The adapter would split a script at every semicolon, even in comments and function bodies. Without
    // parameters PostgreSQL runs the whole script, and rolls all of it back if one statement fails.
    const execute = (sql) => adapter.executeRaw({ sql, args: [], argTypes: [] }).catch(rethrowServerError);
    adapter.executeScript = async (sql) => {
      const names = this.transactions.filter((each) => each.sql === sql).map(({ name }) => name);
      if (names.length === 0) {
        await execute(sql);
      } else {
        const recorded = this.#recorded(await this.#begun(names), sql);
        await whileLocked(() => execute(recorded));
      }
    };
    adapter.dispose = () => this.#end(pool);
    return { adapter, pool };
  }

  /** Returns the ID of what the engine has begun to apply: the one of these that is unfinished. */
  async #begun(names) {
    const { rows } = await this.session.query(
      `SELECT id FROM ${this.migrationsTable}
       WHERE finished_at IS NULL AND rolled_back_at IS NULL AND migration_name = ANY ($1)`,
      [names],
    );
    return rows[0].id;
  }

  /**
   * Returns a script that records itself as finished in its transaction, even if this process has ended. It
   * fails if its session lost the engine's lock, and another process has begun to apply it.
   */
  #recorded(id, sql) {
    return `SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}; ${sql}
      ;DO $recorded$ BEGIN
        UPDATE ${this.migrationsTable} SET finished_at = now()
        WHERE finished_at IS NULL AND rolled_back_at IS NULL AND id = ${pg.escapeLiteral(id)};
        IF NOT FOUND THEN
          RAISE 'Another process applies it, since the connection of this one was lost';
        END IF;
      END $recorded$`;
  }

  async #end(pool) {
    if (this.#pools.delete(pool)) {
      // The pool does not wait for its connection to close. Until then the session holds the lock, and the
      // next reader of `pg_locks` takes it for that of a process that migrates.
      const closed = new Promise((resolve) => pool.once('remove', resolve));
      const isOpen = pool.totalCount > 0;
      await pool.end();
      if (isOpen) {
        await Promise.race([closed, pause(CLOSE_TIMEOUT_MS, undefined, { ref: false })]);
      }
    }
  }
}

/**
 * Throws PostgreSQL's error with its own message and its code, as the native engine records it. Adapter and
 * engine replace some by texts that say less.
 */
function rethrowServerError(error) {
  const { originalCode, originalMessage } = error.cause ?? {};
  if (originalCode === undefined) {
    throw error;
  }
  const message = `${originalMessage}\n\nDatabase error code: ${originalCode}`;
  throw new DriverAdapterError({
    kind: 'postgres',
    severity: 'ERROR',
    message,
    // The engine does not show it.
    code: INTERNAL_ERROR,
    originalCode,
    originalMessage,
  });
}

/** Repeats a transaction that gets no lock, with pauses in which requests do. */
async function whileLocked(execute) {
  const deadline = performance.now() + LOCK_PATIENCE_MS;
  for (;;) {
    try {
      return await execute();
    } catch (error) {
      if (error.cause?.originalCode !== LOCK_NOT_AVAILABLE || performance.now() > deadline) {
        throw error;
      }
    }
    await pause(LOCK_RETRY_MS);
  }
}

/**
 * A pool of one connection, since the engine's advisory lock belongs to a session. A failed query does not
 * end that, as it does in other pools.
 */
class MigrationPool extends pg.Pool {
  constructor(connectionString) {
    const settings = [...sessionSettings(connectionString), ...NO_TIMEOUTS];
    super({
      connectionString,
      max: 1,
      idleTimeoutMillis: 0,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_DELAY_MS,
      verify: (client, done) => client.query(configuration(client, settings), done),
    });
  }

  /**
   * The engine reads `"char"` columns of the catalogues, which the adapter rejects. It accepts `"char"[]`,
   * which these catalogues do not have, so the columns get that type, and `characterForArray` reverts it.
   */
  async query(...args) {
    const result = await this.#queryInSession(args);
    for (const field of result.fields ?? []) {
      if (field.dataTypeID === CHAR_OID) {
        field.dataTypeID = CHAR_ARRAY_OID;
      }
    }
    return result;
  }

  async #queryInSession(args) {
    const client = await this.connect();
    // The end of a connection is an event too, which would end this process.
    client.on('error', ignore);
    try {
      const result = await client.query(...args);
      client.release();
      return result;
    } catch (error) {
      // The script may have begun a transaction. This also tells whether the connection is alive.
      client.release(await client.query('ROLLBACK').then(ignore, (lost) => lost));
      throw error;
    } finally {
      client.off('error', ignore);
    }
  }
}

function ignore() {}

function characterForArray(columnType) {
  return columnType === ColumnTypeEnum.CharacterArray ? ColumnTypeEnum.Character : columnType;
}

/** The database of calls that read none. The engine queries the server's version before anything else. */
class NoDatabase {
  provider = 'postgres';
  adapterName = 'none';

  async connect() {
    const { Boolean, Text, Int32 } = ColumnTypeEnum;
    const refuse = () => Promise.reject(new Error('The datasource url is missing.'));
    return {
      provider: this.provider,
      adapterName: this.adapterName,
      queryRaw: async ({ sql }) =>
        sql.includes('server_version_num')
          ? {
              columnNames: ['exists', 'version', 'numeric_version'],
              columnTypes: [Boolean, Text, Int32],
              rows: [[true, 'PostgreSQL 14.0', 140000]],
            }
          : refuse(),
      executeRaw: refuse,
      executeScript: refuse,
      startTransaction: refuse,
      dispose: async () => {},
    };
  }

  async connectToShadowDb() {
    throw new Error('The datasource url is missing.');
  }

  async close() {}
}
