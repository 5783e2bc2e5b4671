import { setTimeout as pause } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import pg from 'pg';
import { ENCODING_FAULT, sessionSettings, settingColumns } from '../../prisma/session-settings.mjs';
import { databaseReason, isDatabaseUnavailable } from '../database/access/availability.js';
import { withinDeadline } from '../database/access/deadline.js';
import { MigrationError, pendingMigrations } from '../database/migrations/migrations.js';
import { PrismaService } from '../database/access/prisma.service.js';
import { findSchemaFaults, HOW_TO_MIGRATE, HOW_TO_REPAIR } from '../database/migrations/schema-faults.js';
import { SchemaState } from '../database/migrations/schema-state.js';
import { loadSql } from '../database/access/statement.js';
import { EVERY_PRIVILEGE, TABLES } from '../database/access/tables.js';
import { ENVIRONMENT, type Environment } from '../process/settings/environment.js';
import type { Health } from './health.schema.js';

/** With the wait for a connection. Probes commonly time out after one or two seconds. */
const HEALTH_DEADLINE_MS = 1500;
/** Requests within this time share one check, because they need no key. */
const RESULT_LIFE_MS = 1000;

const CHECK = `${loadSql(import.meta.url, 'check-database').text} UNION ALL ${ENCODING_FAULT}`;
/** The migrations are absent while their state is unknown. */
export type DatabaseParts = Pick<Health['components'], 'database' | 'migrations'>;

const UP = { status: 'up' } as const;

/** Checks that the database responds, grants privileges, and has what migrations of this version add. */
@Injectable()
export class DatabaseHealth {
  /** The privileges that a role needs on a table; a null role is that of `DATABASE_URL`. */
  private readonly needs: { role: string | null; relation: string; privileges: string }[];
  /** One check at a time, because each holds a connection for as long as the database hangs. */
  private shared: Promise<DatabaseParts> | null = null;

  constructor(
    private readonly prisma: PrismaService,
    private readonly schema: SchemaState,
    @Inject(ENVIRONMENT)
    private readonly environment: Pick<
      Environment,
      'COUNTER_STORE_URL' | 'DATABASE_URL' | 'DIRECT_DATABASE_URL'
    >,
  ) {
    this.needs = [
      { role: null, relation: '_prisma_migrations', privileges: 'SELECT' },
      ...Object.entries(TABLES).map(([relation, { privileges }]) => ({ role: null, relation, privileges })),
    ];
    const { COUNTER_STORE_URL, DIRECT_DATABASE_URL } = environment;
    if (COUNTER_STORE_URL === undefined) {
      // Counters bypass a pooler, possibly with another role.
      const role = DIRECT_DATABASE_URL && new pg.Client({ connectionString: DIRECT_DATABASE_URL }).user;
      this.needs.push({
        role: role ?? null,
        relation: 'rate_limit_counters',
        privileges: EVERY_PRIVILEGE,
      });
    }
  }

  /** Shares a check that is still running, or started within the last second. */
  async check(): Promise<DatabaseParts> {
    if (this.shared === null) {
      this.shared = this.find();
      const life = pause(RESULT_LIFE_MS, undefined, { ref: false });
      void Promise.allSettled([this.shared, life]).then(() => (this.shared = null));
    }
    try {
      return await withinDeadline(this.shared, HEALTH_DEADLINE_MS);
    } catch (error) {
      const message = databaseReason(error);
      return isDatabaseUnavailable(error)
        ? { database: down(`the database cannot be used (check DATABASE_URL): ${message}`) }
        : { database: UP, migrations: down(message) };
    }
  }

  private async find(): Promise<DatabaseParts> {
    // Prisma's client connects only to a schema that it may use, which is among what is checked.
    const { rows: faults } = await this.prisma.pools.queries.query<{ fault: string }>({
      text: CHECK,
      values: [
        JSON.stringify(this.needs),
        Object.values(TABLES).flatMap(({ sequence }) => sequence ?? []),
        ...settingColumns(sessionSettings(this.environment.DATABASE_URL)),
      ],
    });
    if (faults.length > 0) {
      // The table of migrations may not be readable, so nothing is known of the schema.
      this.schema.isUsable = null;
      return { database: down(faults.map(({ fault }) => fault).join('; ')) };
    }
    // Otherwise the first requests would wait until Prisma's engine is loaded.
    await this.prisma.$connect();
    const migrations = await this.checkMigrations();
    this.schema.isUsable = migrations.status === 'up';
    return { database: UP, migrations };
  }

  /** @throws the database's error. */
  private async checkMigrations(): Promise<NonNullable<DatabaseParts['migrations']>> {
    try {
      const pending = await pendingMigrations(this.prisma.pools.queries);
      if (pending.length > 0) {
        const lacked = `the database lacks the migrations ${pending.join(', ')}`;
        return { ...down(`${lacked}; ${HOW_TO_MIGRATE}`), pending };
      }
      const faults = await findSchemaFaults(this.prisma.pools.queries);
      const repair = `${HOW_TO_MIGRATE}; if that applies nothing, ${HOW_TO_REPAIR}`;
      return { ...(faults === null ? UP : down(`the database ${faults}; ${repair}`)), pending };
    } catch (error) {
      if (error instanceof MigrationError) {
        return down(error.message);
      }
      throw error;
    }
  }
}

function down(message: string) {
  return { status: 'down', message } as const;
}
