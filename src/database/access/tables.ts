/** What the service does with the rows of a table, as privileges of PostgreSQL. */
interface TableUse {
  /** Separated by ", ". Locks of rows, and of tables against other writers, require UPDATE. */
  privileges: string;
  /** The sequence of its identifiers, which requires USAGE. */
  sequence?: string;
  /** The condition of the index on them, if that has one. */
  indexed?: string;
}

/** The privileges on a table whose rows are changed and deleted. */
export const EVERY_PRIVILEGE = 'SELECT, INSERT, UPDATE, DELETE';

const declared: Record<string, TableUse> = {};

/**
 * Declares the tables of a module, by their names. The health check reports what the service may not do with
 * them.
 */
export function declareTables(tables: Record<string, TableUse>): void {
  Object.assign(declared, tables);
}

/** Returns the tables of all modules that are loaded. */
export function declaredTables(): [name: string, use: TableUse][] {
  return Object.entries(declared).toSorted(([one], [other]) => (one < other ? -1 : 1));
}
