import { findTakingSteps, loadParser, readExceptions, Released } from './additive.js';
import { compareDocuments } from './compare-documents.js';
import { compareMigrations } from './compare-migrations.js';
import { compareNames, type Names } from './compare-names.js';
import type { Fault } from './fault.js';
import { DOCUMENTS, type Release, type Version } from './record.js';

/** The names of columns in a list of names. */
const COLUMNS = 'columns';

/**
 * Returns what a tree breaks for those who use the last release, and for the release itself, which serves
 * beside the next one.
 *
 * @param releases oldest first; without any, there is nothing to compare with.
 * @param tree what is public now.
 * @param migrations the SQL of the tree's migrations, by name, oldest first.
 * @param today the day, as 2026-12-05.
 */
export async function findFaults(
  releases: Release[],
  tree: Version,
  migrations: Record<string, string>,
  today: string,
): Promise<Fault[]> {
  const last = releases.at(-1);
  if (last === undefined) {
    return [];
  }
  await loadParser();
  const documents = DOCUMENTS.flatMap((name) => {
    const announcements = releases.map((each) => ({ date: each.date, document: each.documents[name] }));
    return compareDocuments(last.documents[name], tree.documents[name], announcements, today);
  });
  const { [COLUMNS]: oldColumns, ...oldNames } = last.names;
  const columnFaults = compareNames({ columns: oldColumns as Names }, tree.names);
  return [
    ...documents,
    ...compareNames(oldNames, tree.names),
    ...compareMigrations(last.migrations, tree.migrations),
    ...judgeTables(last, oldColumns as Record<string, string>, migrations, columnFaults),
  ];
}

/**
 * Returns the faults of new migrations and of columns, except those that a new migration excepts by a comment
 * with the reason; and the exceptions that except nothing.
 */
function judgeTables(
  last: Release,
  columns: Record<string, string>,
  migrations: Record<string, string>,
  columnFaults: Fault[],
): Fault[] {
  const isReleased = ([name]: [string, string]) => last.migrations[name] !== undefined;
  const all = Object.entries(migrations);
  const released = new Released(
    columns,
    all.filter(isReleased).map(([, sql]) => sql),
  );
  const steps: Fault[] = [];
  const exceptions: { name: string; file: string; used: boolean }[] = [];
  for (const [migration, sql] of all.filter((each) => !isReleased(each))) {
    const file = `prisma/migrations/${migration}/migration.sql`;
    const own = [...readExceptions(sql).keys()].map((name) => ({ name, file, used: false }));
    exceptions.push(...own);
    for (const { name, line } of findSteps(sql, released, file, steps)) {
      const exception = own.find((each) => each.name === name);
      if (exception === undefined) {
        steps.push({ place: `${file}:${line}`, problem: describeStep(name, last.version) });
      } else {
        exception.used = true;
      }
    }
  }
  const ofColumns = columnFaults.filter(({ place }) => {
    const excepting = exceptions.filter(({ name }) => name.split(' ').at(-1) === place.split(' → ').at(-1));
    excepting.forEach((each) => (each.used = true));
    return excepting.length === 0;
  });
  const unused = exceptions
    .filter(({ used }) => !used)
    .map(({ name, file }) => ({
      place: file,
      problem: `Its comment excepts ${name}, which it does not do. Correct or remove it.`,
    }));
  return [...steps, ...ofColumns, ...unused];
}

function findSteps(sql: string, released: Released, file: string, faults: Fault[]) {
  try {
    return findTakingSteps(sql, released);
  } catch (error) {
    faults.push({ place: file, problem: `It is no SQL of PostgreSQL: ${(error as Error).message}.` });
    return [];
  }
}

function describeStep(name: string, version: string): string {
  return (
    `${name}: ${version} still serves beside this version, and may need it. Add only, and take away one ` +
    'release later (docs/adding-an-endpoint.md, "Rename a column"). If it needs it no more, say why in the ' +
    `file: -- not-additive: ${name}: REASON`
  );
}
