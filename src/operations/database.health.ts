import { Injectable } from '@nestjs/common';
import { type HealthIndicatorResult, HealthIndicatorService } from '@nestjs/terminus';
import { databaseReason, isDatabaseUnavailable } from '../database/availability.js';
import { HOW_TO_MIGRATE, pendingMigrations } from '../database/migrations.js';
import { Statements } from '../database/statements.js';
import { withinDeadline } from '../rate-limit/deadline.js';

/** With the wait for a connection: who asks for health waits a second or two, mostly. */
const DEADLINE_MS = 1500;

/** Whether the database answers and has every migration of this version. */
@Injectable()
export class DatabaseHealth {
  /** One question at a time, as each has a connection for as long as the database hangs. */
  private underWay: Promise<string[]> | null = null;

  constructor(
    private readonly indicators: HealthIndicatorService,
    private readonly statements: Statements,
  ) {}

  /** Two parts: `database`; and `migrations`, unless nobody knows. */
  async check(): Promise<HealthIndicatorResult> {
    const database = this.indicators.check('database');
    const migrations = this.indicators.check('migrations');
    try {
      const pending = await withinDeadline(this.pending(), DEADLINE_MS);
      if (pending.length === 0) {
        return { ...database.up(), ...migrations.up({ pending }) };
      }
      const message = `the database lacks the migrations ${pending.join(', ')}; ${HOW_TO_MIGRATE}`;
      return { ...database.up(), ...migrations.down({ pending, message }) };
    } catch (error) {
      const reason = databaseReason(error);
      return isDatabaseUnavailable(error)
        ? database.down(`the database cannot be used (check DATABASE_URL): ${reason}`)
        : { ...database.up(), ...migrations.down(reason) };
    }
  }

  private pending(): Promise<string[]> {
    this.underWay ??= pendingMigrations((statement) =>
      this.statements.run(statement, [], DEADLINE_MS),
    ).finally(() => {
      this.underWay = null;
    });
    return this.underWay;
  }
}
