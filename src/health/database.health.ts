import { Inject, Injectable } from '@nestjs/common';
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

const UP = { status: 'up' } as const;

/** Reports whether the database responds, grants the service its privileges, and has every migration of this version. */
@Injectable()
export class DatabaseHealth {
  private readonly privileges: Record<string, string>;

  constructor(
    private readonly queries: QueryRunner,
    @Inject(ENVIRONMENT)
    { COUNTER_STORE, DIRECT_DATABASE_URL }: Pick<Environment, 'COUNTER_STORE' | 'DIRECT_DATABASE_URL'>,
  ) {
    // Counters that bypass a pooler may do so with another role.
    const countsHere = COUNTER_STORE === undefined && DIRECT_DATABASE_URL === undefined;
    this.privileges = { ...PRIVILEGES, ...(countsHere && { rate_limit_counters: EVERY_PRIVILEGE }) };
  }

  async check(): Promise<DatabaseParts> {
    try {
      return await withinDeadline(this.find(), DEADLINE_MS);
    } catch (error) {
      const message = databaseReason(error);
      return isDatabaseUnavailable(error)
        ? { database: down(`the database cannot be used (check DATABASE_URL): ${message}`) }
        : { database: UP, migrations: down(message) };
    }
  }

  private async find(): Promise<DatabaseParts> {
    const problems = await this.queries.run<[problem: string]>(
      CHECK,
      [Object.keys(this.privileges), Object.values(this.privileges), SEQUENCES],
      DEADLINE_MS,
    );
    if (problems.length > 0) {
      // The table of migrations may not be readable.
      return { database: down(problems.join('; ')) };
    }
    const pending = await pendingMigrations((statement) => this.queries.run(statement, [], DEADLINE_MS));
    if (pending.length === 0) {
      return { database: UP, migrations: { ...UP, pending } };
    }
    const message = `the database lacks the migrations ${pending.join(', ')}; ${HOW_TO_MIGRATE}`;
    return { database: UP, migrations: { ...down(message), pending } };
  }
}

function down(message: string) {
  return { status: 'down', message } as const;
}
