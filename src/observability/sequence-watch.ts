import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { PeriodicTask } from '../database/batches/periodic-task.js';
import { PrismaService } from '../database/access/prisma.service.js';
import { SchemaState } from '../database/migrations/schema-state.js';
import { TABLES } from '../database/access/tables.js';
import { DatabaseHealth } from './database.health.js';
import type { Health } from './health.schema.js';

const INTERVAL_MS = 30_000;

/**
 * Finds and logs sequences that are behind their tables, as after logical replication, which copies rows
 * only. It is apart from readiness: reading a table may wait for a lock.
 */
@Injectable()
export class SequenceWatch extends PeriodicTask implements OnApplicationBootstrap {
  /** One for each sequence that was behind at the last check, with the statement that repairs it. */
  warnings: Health['warnings'] = [];

  constructor(
    private readonly prisma: PrismaService,
    private readonly schema: SchemaState,
    private readonly health: DatabaseHealth,
  ) {
    super(INTERVAL_MS, () => this.check(), 'Could not compare sequences with their tables');
  }

  /** Does not wait: the service starts without its database too. */
  onApplicationBootstrap(): void {
    void this.health.check().then(() => this.runNow());
  }

  /** @throws the database's error. */
  async check(): Promise<void> {
    if (this.schema.isUsable !== true) {
      return;
    }
    const uses = Object.entries(TABLES).flatMap(([table, { sequence, indexed }]) =>
      sequence === undefined ? [] : [{ table, sequence, indexed }],
    );
    const rows = await this.prisma.$queryRaw<{ sequence: string }[]>`
      SELECT sequence FROM unnest(${uses.map(({ sequence }) => sequence)}::text[]) AS sequence
      WHERE has_sequence_privilege(to_regclass(sequence), 'SELECT')`;
    const readable = new Set(rows.map(({ sequence }) => sequence));
    const statements = uses.map(({ table, sequence, indexed }) =>
      selectBehind(table, sequence, indexed, readable.has(sequence)),
    );
    const found = await this.prisma.$queryRawUnsafe<{ message: string }[]>(statements.join(' UNION ALL '));
    const known = new Set(this.warnings.map(({ message }) => message));
    this.warnings = found.map(({ message }) => ({ code: 'sequence_behind', message }));
    found.filter(({ message }) => !known.has(message)).forEach(({ message }) => this.logger.warn(message));
  }
}

/**
 * Returns the statement that returns a message if a sequence is behind. Without the privilege to read a
 * sequence, its next value before its first use is taken to be its first.
 */
function selectBehind(table: string, sequence: string, indexed = 'true', isReadable = false): string {
  const last = isReadable
    ? `(SELECT last_value + is_called::int - 1 FROM ${sequence})`
    : 'coalesce(last_value, start_value - 1)';
  return `
    SELECT format(
      'The sequence %1$s is behind the table %2$s: creations fail because their ids are taken. '
        'Run "SELECT setval(''%1$s'', greatest(max(id), (SELECT last_value FROM %1$s))) FROM %2$s".',
      format('%I.%I', schemaname, sequencename), format('%I.%I', schemaname, '${table}')
    ) AS message
    FROM pg_class
    JOIN pg_sequences ON sequencename = relname AND quote_ident(schemaname) = relnamespace::regnamespace::text
    WHERE pg_class.oid = to_regclass('${sequence}') AND has_sequence_privilege(pg_class.oid, 'USAGE, SELECT')
      AND (SELECT max(id) FROM ${table} WHERE ${indexed}) > ${last}`;
}
