import { Inject, Injectable } from '@nestjs/common';
import pg from 'pg';
import { databaseReason, isDatabaseUnavailable } from '../database/availability.js';
import { withinDeadline } from '../database/deadline.js';
import { HOW_TO_MIGRATE, pendingMigrations } from '../database/migrations.js';
import { loadSql, QueryRunner } from '../database/query-runner.js';
import { ENVIRONMENT, type Environment } from '../settings/environment.js';
import type { Health } from './health.schema.js';

/** Includes the wait for a connection. Probes commonly time out after one or two seconds. */
const DEADLINE_MS = 1500;

const CHECK = loadSql(import.meta.url, 'check-database');
const EVERY_PRIVILEGE = 'SELECT, INSERT, UPDATE, DELETE';
/** The privileges that the service needs on each table. Locks of rows, and of tables against other writers, require UPDATE. */
const PRIVILEGES: Record<string, string> = {
  _prisma_migrations: 'SELECT',
  api_keys: 'SELECT, INSERT, UPDATE',
  audit_events: 'SELECT, INSERT',
  stored_responses: EVERY_PRIVILEGE,
  orders: 'SELECT, INSERT',
  pets: 'SELECT, INSERT',
  plans: 'SELECT, INSERT, UPDATE',
  quotas: 'SELECT, INSERT, UPDATE',
  usage: EVERY_PRIVILEGE,
  usage_batches: EVERY_PRIVILEGE,
};
const SEQUENCES = ['audit_events_id_seq', 'orders_id_seq', 'pets_id_seq'];

/** The migrations are absent while their state is unknown. */
export type DatabaseParts = Pick<Health['parts'], 'database' | 'migrations'>;

/** The state of a database that responds. */
interface Findings {
  /** Sentences that state what the database's administrator has to change. */
  faults: string[];
  /** The names of pending migrations. */
  pending: string[];
}

/** Reports whether the database responds, grants the service its privileges, and has every migration of this version. */
@Injectable()
export class DatabaseHealth {
  /** The privileges that a role needs on a table; a null role is that of `DATABASE_URL`. */
  private readonly needs: { role: string | null; table: string; privileges: string }[];
  /** One check at a time, because each holds a connection for as long as the database hangs. */
  private inFlight: Promise<Findings> | null = null;

  constructor(
    private readonly queries: QueryRunner,
    @Inject(ENVIRONMENT)
    { COUNTER_STORE, DIRECT_DATABASE_URL }: Pick<Environment, 'COUNTER_STORE' | 'DIRECT_DATABASE_URL'>,
  ) {
    this.needs = Object.entries(PRIVILEGES).map(([table, privileges]) => ({ role: null, table, privileges }));
    if (COUNTER_STORE === undefined) {
      // Counters bypass a pooler, possibly with another role.
      const role = DIRECT_DATABASE_URL === undefined ? null : parseRole(DIRECT_DATABASE_URL);
      this.needs.push({ role, table: 'rate_limit_counters', privileges: EVERY_PRIVILEGE });
    }
  }

  async check(): Promise<DatabaseParts> {
    const database = { status: 'up' } as const;
    try {
      const { faults, pending } = await withinDeadline(this.findings(), DEADLINE_MS);
      if (faults.length > 0) {
        return { database: { status: 'down', message: faults.join('; ') } };
      }
      if (pending.length === 0) {
        return { database, migrations: { status: 'up', pending } };
      }
      const message = `the database lacks the migrations ${pending.join(', ')}; ${HOW_TO_MIGRATE}`;
      return { database, migrations: { status: 'down', pending, message } };
    } catch (error) {
      const reason = databaseReason(error);
      return isDatabaseUnavailable(error)
        ? {
            database: {
              status: 'down',
              message: `the database cannot be used (check DATABASE_URL): ${reason}`,
            },
          }
        : { database, migrations: { status: 'down', message: reason } };
    }
  }

  private findings(): Promise<Findings> {
    this.inFlight ??= this.find().finally(() => {
      this.inFlight = null;
    });
    return this.inFlight;
  }

  private async find(): Promise<Findings> {
    const rows = await this.queries.run<[fault: string]>(
      CHECK,
      [
        this.needs.map(({ role }) => role),
        this.needs.map(({ table }) => table),
        this.needs.map(({ privileges }) => privileges),
        SEQUENCES,
      ],
      DEADLINE_MS,
    );
    const faults = rows.flat();
    if (faults.length > 0) {
      // The table of migrations may not be readable.
      return { faults, pending: [] };
    }
    const pending = await pendingMigrations((statement) => this.queries.run(statement, [], DEADLINE_MS));
    return { faults, pending };
  }
}

function parseRole(connectionString: string): string | null {
  return new pg.Client({ connectionString }).user ?? null;
}
