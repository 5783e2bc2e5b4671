import { Inject, Injectable } from '@nestjs/common';
import { type HealthIndicatorResult, HealthIndicatorService } from '@nestjs/terminus';
import { pendingMigrations } from '../database/migrations.js';
import { ENVIRONMENT, type Environment } from '../environment.js';

const NAME = 'database';

/** Whether the database answers and has every migration of this version. */
@Injectable()
export class DatabaseHealth {
  constructor(
    private readonly indicators: HealthIndicatorService,
    @Inject(ENVIRONMENT) private readonly environment: Environment,
  ) {}

  async check(): Promise<HealthIndicatorResult> {
    const indicator = this.indicators.check(NAME);
    try {
      const pending = await pendingMigrations(this.environment.DATABASE_URL ?? '');
      return pending.length === 0
        ? indicator.up()
        : indicator.down(
            `the database lacks the migrations ${pending.join(', ')}; run "npx prisma migrate deploy"`,
          );
    } catch (error) {
      return indicator.down(
        `the database does not answer: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
  }
}
