import type { TestDatabase } from './database.js';

/** A line for each part of a schema, without the order of columns, and without the table of migrations. */
const PARTS = `
  WITH relation AS (
    SELECT oid, relname, relkind, reloptions, relpersistence, relreplident FROM pg_class
    WHERE relnamespace = current_schema()::regnamespace AND relname !~ '^_prisma_migrations'
  )
  SELECT format('%s %s %s %s %s', relkind, relname, reloptions, relpersistence, relreplident) AS part
  FROM relation
  UNION ALL
  SELECT format(
    'column %s.%s %s not null: %s default: %s %s %s %s %s',
    relname, attname, format_type(atttypid, atttypmod), attnotnull,
    pg_get_expr(adbin, adrelid), attcollation::regcollation, attidentity, attgenerated, attstorage
  )
  FROM relation
    JOIN pg_attribute ON attrelid = relation.oid AND attnum > 0 AND NOT attisdropped AND relkind = 'r'
    LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
  UNION ALL
  -- From PostgreSQL 18 on, NOT NULL is a constraint too.
  SELECT format(
    'constraint %s.%s %s validated: %s', relname, conname, pg_get_constraintdef(c.oid), convalidated
  )
  FROM relation JOIN pg_constraint c ON conrelid = relation.oid AND contype <> 'n'
  UNION ALL
  SELECT format('index %s valid: %s', pg_get_indexdef(indexrelid), indisvalid)
  FROM relation JOIN pg_index ON indrelid = relation.oid
  UNION ALL
  SELECT format('trigger %s enabled: %s', pg_get_triggerdef(t.oid), tgenabled)
  FROM relation JOIN pg_trigger t ON tgrelid = relation.oid AND NOT tgisinternal
  UNION ALL
  SELECT pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = current_schema()::regnamespace
  UNION ALL
  SELECT format('enum %s: %s', typname, string_agg(enumlabel, ', ' ORDER BY enumsortorder))
  FROM pg_type JOIN pg_enum ON enumtypid = pg_type.oid
  WHERE typnamespace = current_schema()::regnamespace
  GROUP BY typname
  UNION ALL
  SELECT format(
    'sequence %s %s by %s from %s to %s, owned by %s',
    relname, seqtypid::regtype, seqincrement, seqmin, seqmax,
    (
      SELECT format('%s.%s', refobjid::regclass, attname)
      FROM pg_depend JOIN pg_attribute ON attrelid = refobjid AND attnum = refobjsubid
      WHERE objid = relation.oid AND deptype = 'a' AND pg_depend.classid = 'pg_class'::regclass
    )
  )
  FROM relation JOIN pg_sequence ON seqrelid = relation.oid`;

/** Returns a sorted line for each part of a database's schema. */
export async function readSchema(database: TestDatabase): Promise<string[]> {
  return (await database.query<{ part: string }>(PARTS)).map(({ part }) => part).toSorted();
}

/** A row, its values as texts: JSON as `canonical` writes it. */
export type Row = Record<string, string | null>;

/** Returns every row of each table, sorted by its texts. */
export async function readRows(database: TestDatabase): Promise<Record<string, Row[]>> {
  const tables = await database.query<{ name: string }>(
    `SELECT tablename AS name FROM pg_tables
     WHERE schemaname = current_schema() AND tablename <> '_prisma_migrations' ORDER BY 1`,
  );
  const read = tables.map(async ({ name }): Promise<[string, Row[]]> => {
    const rows = await database.query<{ row: Row }>(
      `SELECT (SELECT json_object_agg(key, value ORDER BY key) FROM jsonb_each_text(to_jsonb(t))) AS row
       FROM "${name}" t`,
    );
    return [name, sortRows(rows.map(({ row }) => withCanonicalJson(row)))];
  });
  return Object.fromEntries(await Promise.all(read));
}

export const byText = (one: string, other: string) => (one < other ? -1 : 1);

/** Sorts rows of one table, whose columns may be in any order. */
export function sortRows(rows: Row[]): Row[] {
  const text = (row: Row) => JSON.stringify(row, Object.keys(row).toSorted(byText));
  return rows.toSorted((one, other) => byText(text(one), text(other)));
}

function withCanonicalJson(row: Row): Row {
  const values = Object.entries(row).map(([name, value]) => [
    name,
    value !== null && /^[[{]/.test(value) ? canonical(JSON.parse(value)) : value,
  ]);
  return Object.fromEntries(values);
}

/** Returns a value as JSON. Its names are sorted, and so are lists of objects, whose order means nothing. */
export function canonical(value: unknown): string {
  return JSON.stringify(sorted(value));
}

function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) {
    return value;
  }
  if (Array.isArray(value)) {
    const items = value.map(sorted);
    return items.every((item) => typeof item === 'object')
      ? items.toSorted((one, other) => byText(JSON.stringify(one), JSON.stringify(other)))
      : items;
  }
  const entries = Object.entries(value).map(([name, part]) => [name, sorted(part)] as const);
  return Object.fromEntries(entries.toSorted(([one], [other]) => byText(one, other)));
}
