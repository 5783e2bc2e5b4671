import {
  findNonAdditiveSteps,
  loadParser,
  parseMigration,
  readExceptions,
  ReleasedDatabase,
  type Statement,
} from './additive.js';
import { compareDocuments } from './compare-documents.js';
import { compareMigrations } from './compare-migrations.js';
import { compareNames } from './compare-names.js';
import type { Fault } from './fault.js';
import { DOCUMENTS, type Release, type Version } from './record.js';

/** The names of columns in a list of names. */
const COLUMNS = 'columns';
/** The end of the type of a column that is never null. */
const NOT_NULL = ' NOT NULL';

/**
 * Returns what a tree breaks for those who use the last release, and for the release itself, which serves
 * beside the next one.
 *
 * @param releases oldest first; if empty, there is nothing to compare with.
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
  const { [COLUMNS]: _, ...oldNames } = last.names;
  return [
    ...documents,
    ...compareNames(oldNames, tree.names),
    ...compareMigrations(last.migrations, tree.migrations),
    ...judgeTables(last, tree, migrations),
  ];
}

/**
 * Returns the faults of new migrations and of columns, except those that a new migration permits by a comment
 * with the reason; and the comments that permit nothing.
 */
function judgeTables(last: Release, tree: Version, migrations: Record<string, string>): Fault[] {
  const [oldColumns, newColumns] = [last, tree].map(({ names }) => names[COLUMNS] as Record<string, string>);
  const faults: Fault[] = [];
  const parsed = Object.entries(migrations).map(([name, sql]) => ({
    file: `prisma/migrations/${name}/migration.sql`,
    isReleased: last.migrations[name] !== undefined,
    exceptions: [...readExceptions(sql).keys()],
    statements: parse(sql, `prisma/migrations/${name}/migration.sql`, faults),
  }));
  const news = parsed.filter(({ isReleased }) => !isReleased);
  const olds = parsed.filter(({ isReleased }) => isReleased).flatMap(({ statements }) => statements);
  const released = new ReleasedDatabase(oldColumns ?? {}, olds);
  const all = news.flatMap(({ statements }) => statements);
  const used = new Set<string>();
  for (const { file, exceptions, statements } of news) {
    for (const { name, line } of findNonAdditiveSteps(statements, released, all)) {
      if (exceptions.includes(name)) {
        used.add(`${file} ${name}`);
      } else {
        faults.push({ place: `${file}:${line}`, problem: describeStep(name, last.version) });
      }
    }
  }
  const comments = news.flatMap(({ file, exceptions }) => exceptions.map((name) => ({ name, file })));
  for (const fault of compareNames({ columns: oldColumns ?? {} }, tree.names)) {
    const column = fault.place.split(' → ').at(-1) ?? '';
    const excepting = neededSteps(column, oldColumns?.[column], newColumns?.[column]).map((names) =>
      comments.filter(({ name }) => names.includes(name)),
    );
    excepting.flat().forEach(({ file, name }) => used.add(`${file} ${name}`));
    if (excepting.some((each) => each.length === 0)) {
      faults.push(fault);
    }
  }
  const unused = comments
    .filter(({ file, name }) => !used.has(`${file} ${name}`))
    .map(({ name, file }) => ({
      place: file,
      problem: `Its comment excepts ${name}, which it does not do. Correct or remove it.`,
    }));
  return [...faults, ...unused];
}

/** Returns the steps that change a column so, each by its possible names. */
function neededSteps(column: string, was = '', is?: string): string[][] {
  if (is === undefined) {
    return [[`DROP COLUMN ${column}`, `RENAME COLUMN ${column}`]];
  }
  const isNeverNull = (type: string) => type.endsWith(NOT_NULL);
  const type = (each: string) => (isNeverNull(each) ? each.slice(0, -NOT_NULL.length) : each);
  return [
    ...(type(was) === type(is) ? [] : [[`ALTER COLUMN TYPE ${column}`]]),
    ...(isNeverNull(was) === isNeverNull(is)
      ? []
      : [[`${isNeverNull(is) ? 'SET' : 'DROP'}${NOT_NULL} ${column}`]]),
  ];
}

function parse(sql: string, file: string, faults: Fault[]): Statement[] {
  try {
    return parseMigration(sql);
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
