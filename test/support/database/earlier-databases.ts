import { readFileSync } from 'node:fs';
import path from 'node:path';
import { createDatabase, query, type TestDatabase } from './database.js';

const FOLDER = path.join(import.meta.dirname, '..', '..', 'database', 'earlier-databases');

/** The commits before the first release whose databases people have. */
export const EARLIER_COMMITS = ['d974abe', '228d569'] as const;
type EarlierCommit = (typeof EARLIER_COMMITS)[number];

/** What a dump cannot show: its time, its keys by their names, and what its service responded. */
interface Facts {
  dumpedAt: string;
  keys: Record<string, string>;
  /** The ids on the page of a link `next`. */
  cursors: Record<string, (string | number)[]>;
  storedResponses: {
    idempotencyKey: string;
    path: string;
    body: string;
    response: string;
    location: string | null;
  }[];
  webhooks: Record<'rotated' | 'failing', { id: string; secrets: string[] }>;
}

export function readFacts(commit: EarlierCommit): Facts {
  return JSON.parse(readFileSync(path.join(FOLDER, `${commit}.json`), 'utf8'));
}

/** Returns the dump of a commit's database, as SQL. */
export function readDump(commit: EarlierCommit): string {
  return readFileSync(path.join(FOLDER, `${commit}.sql`), 'utf8');
}

/** Creates a database from the dump of a commit. */
export async function createEarlierDatabase(commit: EarlierCommit): Promise<TestDatabase> {
  const database = await createDatabase('template0');
  await query(database.url, readDump(commit));
  return database;
}
