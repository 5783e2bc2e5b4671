import type { SchemaEngine } from '@prisma/schema-engine-wasm';

export interface OpenSchemaEngine {
  engine: SchemaEngine;
  /** Ends every connection of the engine. Call it also after a failure. */
  close: () => Promise<void>;
}

/** The same server and credentials, another database. */
export function withDatabase(connectionString: string, database: string): string;

/** The commit of prisma/prisma-engines from which the engine was built. */
export function schemaEngineVersion(): Promise<string>;

/**
 * Loads Prisma's schema engine (once per process, about 30 ms) and connects it.
 *
 * Calls that write the table of migrations take turns with other processes, waiting up to two minutes. Applying runs a migration that
 * is one concurrent build of an index itself, and records it once it is finished.
 *
 * `datamodels` are pairs of a Prisma schema's path and text; applying migrations needs none. `log` gets the engine's
 * log, one JSON text per line. Throws what the engine throws: an `Error` whose `code`, if any, is Prisma's (`P3009`); that of a
 * migration which failed (`P3018`) and is to be resolved has its `migrationName`, too.
 */
export function openSchemaEngine(options: {
  connectionString?: string | undefined;
  datamodels?: [path: string, text: string][] | undefined;
  log?: (line: string) => void;
}): Promise<OpenSchemaEngine>;
