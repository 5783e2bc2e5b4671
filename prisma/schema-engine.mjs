#!/usr/bin/env node
// What the Prisma CLI starts in place of its native schema engine, which it would have to download.
// It speaks that engine's protocol, JSON-RPC with one message per line on stdin and stdout, and passes each call to
// the same engine as WebAssembly. `prisma.config.ts` names this file, unless PRISMA_SCHEMA_ENGINE_BINARY is set.

import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';

import pg from 'pg';

import { describeConnectionError } from './connection-error.mjs';
import { openSchemaEngine, schemaEngineVersion, withDatabase } from './wasm-schema-engine.mjs';

const CONNECT_TIMEOUT_MS = 10_000;

/** Calls that the WebAssembly engine has under another name. */
const RENAMED = { getDatabaseVersion: 'version' };

/** The code of JSON-RPC with which the native engine answers every failure it can explain. */
const EXPLAINED_FAILURE = 4466;

/** PostgreSQL tells a database created twice by the one, or at the very same moment by the other. */
const DUPLICATE_DATABASE = '42P04';
const UNIQUE_VIOLATION = '23505';

const { values, positionals } = parseArgs({
  options: {
    datasource: { type: 'string' },
    datamodels: { type: 'string', multiple: true },
    version: { type: 'boolean', default: false },
  },
  allowPositionals: true,
  // The CLI may give options that matter to other databases only.
  strict: false,
});
const connectionString = values.datasource === undefined ? undefined : JSON.parse(values.datasource).url;

// The CLI takes every line on stderr for a line of the engine's log.
process.removeAllListeners('warning');
process.on('warning', (warning) => log({ level: 'WARN', message: warning.message }));

if (values.version) {
  console.log(`schema-engine-wasm ${await schemaEngineVersion()}`);
} else if (positionals[0] === 'cli') {
  process.exitCode = await runCommand(positionals[1]);
} else {
  serve();
}

/** `cli can-connect-to-database` and `cli create-database`; returns the exit code. */
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

/** Answers call after call until the CLI closes our stdin. */
function serve() {
  let underWay;
  let lastCall = Promise.resolve();
  const lines = createInterface({ input: process.stdin, crlfDelay: Infinity });

  lines.on('line', (line) => {
    const { id, method, params } = JSON.parse(line);
    // Without a method it is the CLI's answer to our `print`.
    if (method === undefined) {
      return;
    }
    lastCall = lastCall.then(async () => {
      underWay = id;
      send({ id, ...(await answer(method, params)) });
      underWay = undefined;
    });
  });
  // A panic of the engine leaves its promise open for ever, and the CLI ends without a word when we do.
  process.on('uncaughtException', (error) => {
    if (underWay === undefined) {
      throw error;
    }
    send({ id: underWay, error: explain(error) });
    underWay = undefined;
  });
  // A call still under way is not waited for: nobody is left to hear its answer.
  lines.on('close', () => process.exit());

  async function answer(method, params) {
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

/** Each call has an engine and a connection of its own, so that nothing of a failed call reaches the next. */
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
 * Has the engine replay the migrations in a shadow database and remember what they amount to. The two calls that need
 * this knowledge cannot open a shadow database themselves.
 */
async function replayMigrations(engine, { migrationsList, filters }) {
  await engine.diagnoseMigrationHistory({ migrationsList, filters, optInToShadowDatabase: true });
}

/** Connects once, as the engine's own errors about connections are poorer than those of the driver. */
async function canConnect() {
  if (connectionString === undefined) {
    throw new Error('The datasource url is missing: set DATABASE_URL.');
  }
  await withClient(connectionString, () => {});
}

/** Creates the database of the connection string from the database `postgres`, and returns its name. */
async function createDatabase() {
  const name = decodeURIComponent(new URL(connectionString).pathname.slice(1));
  await withClient(withDatabase(connectionString, 'postgres'), async (client) => {
    await client.query(`CREATE DATABASE ${pg.escapeIdentifier(name)}`).catch((error) => {
      // Another process was quicker, and so the database is there.
      if (error.code !== DUPLICATE_DATABASE && error.code !== UNIQUE_VIOLATION) {
        throw error;
      }
    });
  });
  return name;
}

async function withClient(url, use) {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  // A connection that breaks later says so by an event, which would end this process.
  client.on('error', () => {});
  try {
    await client.connect();
    return await use(client);
  } finally {
    await client.end();
  }
}

/** The shape in which the native engine tells a failure, so that the CLI prints its usual text. */
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

/** The driver's errors carry the SQLSTATE of PostgreSQL or the code of a system call; the engine's a P-code or none. */
function isConnectionError(error) {
  return (
    connectionString !== undefined &&
    error.name !== 'SchemaConnectorError' &&
    !/^P\d{4}$/.test(error.code ?? '')
  );
}

let printed = 0;

/** Hands text over for the CLI's own output. */
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
