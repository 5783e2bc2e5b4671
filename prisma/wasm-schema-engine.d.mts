import type { SchemaEngine } from '@prisma/schema-engine-wasm';

export interface OpenSchemaEngine {
  engine: SchemaEngine;
  /** Closes all connections of the engine. Call it after a failure too. */
  close: () => Promise<void>;
}

/** Returns the connection string of another database on the same server. */
export function withDatabase(connectionString: string, database: string): string;

/** Returns the commit of prisma/prisma-engines from which the engine was built. */
export function schemaEngineVersion(): Promise<string>;

/**
 * Loads Prisma's schema engine (once per process, about 30 ms) and connects it.
 *
 * Calls that write the table of migrations wait up to two minutes for other processes that do. `applyMigrations` applies each migration
 * and records it in one transaction, unless it builds an index concurrently. It waits up to a minute for locks, for a second at a time,
 * and applies an earlier migration that failed or was interrupted again.
 *
 * `datamodels` are pairs of a Prisma schema's path and text; applying migrations needs none. `log` receives the engine's log, one JSON
 * text per line. Throws the engine's `Error`, whose `code`, if any, is Prisma's (`P3009`). The error of a failed migration that must be
 * resolved (`P3018`) has its `migrationName`.
 */
export function openSchemaEngine(options: {
  connectionString?: string | undefined;
  datamodels?: [path: string, text: string][] | undefined;
  log?: (line: string) => void;
}): Promise<OpenSchemaEngine>;
