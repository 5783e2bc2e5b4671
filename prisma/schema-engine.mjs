#!/usr/bin/env node
// The Prisma CLI starts this script instead of its native schema engine, which it would have to download. The
// script speaks the engine's protocol, JSON-RPC with one message per line on stdin and stdout, and passes
// each call to the same engine as WebAssembly. `prisma.config.ts` names this file, unless
// PRISMA_SCHEMA_ENGINE_BINARY is set.

import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';

import pg from 'pg';

import { describeConnectionError } from './connection-error.mjs';
import { ENCODING_FAULT, findSchema } from './session-settings.mjs';
import { openSchemaEngine, schemaEngineVersion, withDatabase } from './wasm-schema-engine.mjs';

const CONNECT_TIMEOUT_MS = 10_000;

/** Calls that the WebAssembly engine has under another name. */
const RENAMED = { getDatabaseVersion: 'version' };

/** The JSON-RPC error code of the native engine for every known failure. */
const EXPLAINED_FAILURE = 4466;

/**
 * PostgreSQL's errors for a database that exists already, and for one that another session creates at the
 * same time.
 */
const DUPLICATE_DATABASE = '42P04';
const UNIQUE_VIOLATION = '23505';

const { values, positionals } = parseArgs({
  options: {
    datasource: { type: 'string' },
    datamodels: { type: 'string', multiple: true },
    version: { type: 'boolean', default: false },
  },
  allowPositionals: true,
  // The CLI may pass options for other databases.
  strict: false,
});
const connectionString = values.datasource === undefined ? undefined : JSON.parse(values.datasource).url;

// The CLI reads every line on stderr as a line of the engine's log.
process.removeAllListeners('warning');
process.on('warning', (warning) => log({ level: 'WARN', message: warning.message }));

if (values.version) {
  console.log(`schema-engine-wasm ${await schemaEngineVersion()}`);
} else if (positionals[0] === 'cli') {
  process.exitCode = await runCommand(positionals[1]);
} else {
  serve();
}

/** Runs `cli can-connect-to-database` or `cli create-database`, and returns the exit code. */
async function runCommand(command) {
  // The CLI skips the first line.
  log({ level: 'INFO', message: 'Starting schema engine CLI' });
  try {
    if (command === 'can-connect-to-database') {
      await canConnect();
    } else if (command === 'create-database') {
      await createDatabase();
    } else {
      throw new Error(`Unknown command: ${command}`);
    }
    return 0;
  } catch (error) {
    const { code, message } = describeConnectionError(error, connectionString);
    log({ level: 'ERROR', message, error_code: code });
    return 1;
  }
}

/** Responds to one call after the other until the CLI closes stdin. */
function serve() {
  let inFlight;
  let lastCall = Promise.resolve();
  const lines = createInterface({ input: process.stdin, crlfDelay: Infinity });

  lines.on('line', (line) => {
    const { id, method, params } = JSON.parse(line);
    // A message without a method is the CLI's response to `print`.
    if (method === undefined) {
      return;
    }
    lastCall = lastCall.then(async () => {
      inFlight = id;
      send({ id, ...(await respond(method, params)) });
      inFlight = undefined;
    });
  });
  // After a panic of the engine its promise never settles. If this process ended without a response, so would
  // the CLI.
  process.on('uncaughtException', (error) => {
    if (inFlight === undefined) {
      throw error;
    }
    send({ id: inFlight, error: explain(error) });
    inFlight = undefined;
  });
  // A call in flight is abandoned, because the CLI has ended.
  lines.on('close', () => process.exit());

  async function respond(method, params) {
    try {
      if (method === 'createDatabase') {
        return { result: { databaseName: await createDatabase() } };
      }

      const result = await callEngine(method, params);
      if (method === 'diff' && result.stdout) {
        print(result.stdout);
      }
      return { result: result ?? null };
    } catch (error) {
      return { error: explain(error) };
    }
  }
}

/** Runs a call with its own engine and connection, so that a failed call does not affect the next. */
async function callEngine(method, params) {
  const offline =
    method === 'diff' &&
    [params.from, params.to].every(({ tag }) => tag === 'empty' || tag === 'schemaDatamodel');
  if (!offline) {
    await canConnect();
  }
  const files = values.datamodels;
  const datamodels =
    files && (await Promise.all(files.map(async (file) => [file, await readFile(file, 'utf8')])));
  const { engine, close } = await openSchemaEngine({
    connectionString: offline ? undefined : connectionString,
    datamodels,
    log: (line) => process.stderr.write(`${line.trimEnd()}\n`),
  });
  try {
    if (method === 'evaluateDataLoss' || method === 'createMigration') {
      await replayMigrations(engine, params);
    }
    return await engine[RENAMED[method] ?? method](params);
  } finally {
    await close();
  }
}

/**
 * Makes the engine replay the migrations in a shadow database. Two calls need the result but cannot open one
 * themselves.
 */
async function replayMigrations(engine, { migrationsList, filters }) {
  await engine.diagnoseMigrationHistory({ migrationsList, filters, optInToShadowDatabase: true });
}

/**
 * Connects once, because the engine does not report errors of connections. It would also migrate a database
 * in another encoding than UTF8, in which the service then fails.
 */
async function canConnect() {
  if (connectionString === undefined) {
    throw new Error('The datasource url is missing: set DATABASE_URL.');
  }
  await withClient(connectionString, async (client) => {
    await findSchema(client, connectionString);
    const { rows } = await client.query(ENCODING_FAULT);
    if (rows.length > 0) {
      throw new Error(rows[0].fault);
    }
  });
}

/** Creates the database of the connection string from the database `postgres`, and returns its name. */
async function createDatabase() {
  const name = decodeURIComponent(new URL(connectionString).pathname.slice(1));
  await withClient(withDatabase(connectionString, 'postgres'), async (client) => {
    await client.query(`CREATE DATABASE ${pg.escapeIdentifier(name)}`).catch((error) => {
      // Another process has created the database.
      if (error.code !== DUPLICATE_DATABASE && error.code !== UNIQUE_VIOLATION) {
        throw error;
      }
    });
  });
  return name;
}

async function withClient(url, use) {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  // Without a listener, the error event of a broken connection would end this process.
  client.on('error', () => {});
  try {
    await client.connect();
    return await use(client);
  } finally {
    await client.end();
  }
}

/** Returns an error in the form of the native engine, so that the CLI prints its usual text. */
function explain(error) {
  const { code, message } = isConnectionError(error)
    ? describeConnectionError(error, connectionString)
    : error;
  return {
    code: EXPLAINED_FAILURE,
    message: 'An error happened. Check the data field for details.',
    data: { is_panic: false, message, meta: null, ...(code && { error_code: code }) },
  };
}

/** The driver's errors have an SQLSTATE or the code of a system call; the engine's have a P-code or none. */
function isConnectionError(error) {
  return (
    connectionString !== undefined &&
    error.name !== 'SchemaConnectorError' &&
    !/^P\d{4}$/.test(error.code ?? '')
  );
}

let printed = 0;

/** Makes the CLI print text. */
function print(content) {
  send({ id: ++printed, method: 'print', params: { content } });
}

function send(message) {
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
}

function log({ level, ...fields }) {
  const line = { timestamp: new Date().toISOString(), level, fields, target: 'schema_engine::logger' };
  process.stderr.write(`${JSON.stringify(line)}\n`);
}
