import { readFileSync } from 'node:fs';
import type pg from 'pg';
import { COLUMNS } from '../generated/columns.js';

/** The advice in messages about pending migrations. Prisma's commands are not in the image. */
export const HOW_TO_MIGRATE = 'run "npx prisma migrate deploy", or in a container "animal-store migrate"';

/** The advice when the database lacks something though every migration is recorded as applied. */
export const HOW_TO_REPAIR =
  'either a migration was recorded only (delete its row in _prisma_migrations, and migrate again), or ' +
  'tables were changed by hand ("npx prisma migrate diff --from-config-datasource --to-schema ' +
  'prisma/schema.prisma --script", in a checkout of this version, prints the difference)';

const FIND = readFileSync(new URL('./schema-faults.sql', import.meta.url), 'utf8');
const MAX_NAMED = 10;

/**
 * Returns what the database lacks of the tables and columns of this version, or has in another form, as
 * predicates of "the database"; null if it is complete.
 */
export async function findSchemaFaults(pool: Pick<pg.Pool, 'query'>): Promise<string | null> {
  const { rows } = await pool.query<{ fault: string }>(FIND, [JSON.stringify(COLUMNS)]);
  const faults = rows.map(({ fault }) => fault);
  const unnamed = faults.length - MAX_NAMED;
  const named = [...faults.slice(0, MAX_NAMED), ...(unnamed > 0 ? [`has ${unnamed} more faults`] : [])];
  return faults.length === 0 ? null : named.join(', ');
}
