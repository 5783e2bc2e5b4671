import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Refusal } from '../refusal.js';
import type { Names } from './compare-names.js';
import type { Json } from './compare-schemas.js';

const ROOT = path.join(import.meta.dirname, '..', '..');
const DOCUMENTS_FOLDER = path.join(ROOT, 'docs');
const RELEASES = path.join(ROOT, 'releases');
const NAMES = path.join(ROOT, 'dev', 'names.js');
export const DOCUMENTS = ['openapi.json', 'admin-openapi.json'] as const;

/** What is public in a version. */
export interface Version {
  documents: Record<(typeof DOCUMENTS)[number], Json>;
  names: Names;
  /** The SHA-256 of every migration, by name. */
  migrations: Record<string, string>;
}

/** A release, as `releases/<version>/release.json` has it. */
interface ReleaseFacts {
  version: string;
  /** The day, as 2026-12-05. */
  date: string;
  /** The hash of the commit that was released. */
  commit: string;
}

export interface Release extends Version, ReleaseFacts {}

/**
 * Keeps what is public in this tree as that of a release, which later versions are compared with.
 *
 * @throws Refusal if the release has a record, or the tree is not built.
 */
export async function recordRelease(facts: ReleaseFacts, releasesFolder = RELEASES): Promise<void> {
  const folder = path.join(releasesFolder, facts.version);
  if (existsSync(folder)) {
    throw new Refusal(`releases/${facts.version} exists: a release is recorded once, and never changed.`);
  }
  const { names, migrations } = readTree();
  await mkdir(folder, { recursive: true });
  await Promise.all(
    DOCUMENTS.map((file) => copyFile(path.join(DOCUMENTS_FOLDER, file), path.join(folder, file))),
  );
  for (const [name, value] of Object.entries({ names, migrations, release: facts })) {
    await writeFile(path.join(folder, `${name}.json`), `${JSON.stringify(value, null, 2)}\n`);
  }
}

/** Returns all releases, the oldest version first. */
export function releases(releasesFolder = RELEASES): Release[] {
  const versions = existsSync(releasesFolder) ? readdirSync(releasesFolder) : [];
  return versions
    .filter((version) => /^\d+\.\d+\.\d+$/.test(version))
    .toSorted((one, other) => one.localeCompare(other, 'en', { numeric: true }))
    .map((version) => {
      const folder = path.join(releasesFolder, version);
      const read = (name: string) => readJson(path.join(folder, `${name}.json`));
      return {
        ...(read('release') as ReleaseFacts),
        documents: readDocuments(folder),
        names: read('names') as Names,
        migrations: read('migrations') as Record<string, string>,
      };
    });
}

/**
 * Returns the release with the highest version.
 *
 * @throws Refusal if there is no record of any.
 */
export function lastRelease(releasesFolder = RELEASES): Release {
  const last = releases(releasesFolder).at(-1);
  if (last === undefined) {
    throw new Refusal(`${releasesFolder} has no release: git checkout releases`);
  }
  return last;
}

/**
 * Returns what is public in this tree.
 *
 * @throws Refusal if it is not built.
 */
export function readTree(): Version {
  if (!existsSync(path.join(ROOT, 'build'))) {
    throw new Refusal('The folder build is missing: run "npm run build" first.');
  }
  const names = JSON.parse(execFileSync(process.execPath, [NAMES], { encoding: 'utf8' })) as Names;
  const migrations = Object.entries(readMigrations()).map(([name, sql]) => [
    name,
    createHash('sha256').update(sql).digest('hex'),
  ]);
  return { documents: readDocuments(DOCUMENTS_FOLDER), names, migrations: Object.fromEntries(migrations) };
}

/** Returns the files of the migrations of this tree, by name, the oldest first. */
export function readMigrations(): Record<string, Buffer> {
  const folder = path.join(ROOT, 'prisma', 'migrations');
  const names = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .toSorted();
  return Object.fromEntries(
    names.map((name) => [name, readFileSync(path.join(folder, name, 'migration.sql'))]),
  );
}

function readDocuments(folder: string): Version['documents'] {
  const read = (file: string) => readJson(path.join(folder, file)) as Json;
  return { 'openapi.json': read('openapi.json'), 'admin-openapi.json': read('admin-openapi.json') };
}

function readJson(file: string): unknown {
  return JSON.parse(readFileSync(file, 'utf8'));
}
