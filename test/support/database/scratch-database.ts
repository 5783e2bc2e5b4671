import { randomUUID } from 'node:crypto';

import pg from 'pg';

/** The maintenance database of a server on which the tests may create databases of their own. */
function maintenanceUrl(): string {
  const url = process.env.TEST_DATABASE_URL;
  if (!url) {
    throw new Error('TEST_DATABASE_URL is missing.');
  }
  return url;
}

/** The address of a database that does not exist yet. */
export function scratchDatabaseUrl(): string {
  const url = new URL(maintenanceUrl());
  url.pathname = `/scratch_${randomUUID().replaceAll('-', '')}`;
  return url.href;
}

export async function createDatabase(databaseUrl: string): Promise<void> {
  await query(maintenanceUrl(), `CREATE DATABASE ${databaseName(databaseUrl)}`);
}

export async function dropDatabase(databaseUrl: string): Promise<void> {
  await query(maintenanceUrl(), `DROP DATABASE IF EXISTS ${databaseName(databaseUrl)} WITH (FORCE)`);
}

export async function query<Row extends pg.QueryResultRow>(
  databaseUrl: string,
  sql: string,
  values?: unknown[],
): Promise<Row[]> {
  const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: 10_000 });
  // A connection that a fault ends is an event too, besides the rejection of its query.
  client.on('error', () => {});
  try {
    await client.connect();
    return (await client.query<Row>(sql, values)).rows;
  } finally {
    await client.end();
  }
}

function databaseName(databaseUrl: string): string {
  return pg.escapeIdentifier(decodeURIComponent(new URL(databaseUrl).pathname.slice(1)));
}
