import { Inject, Injectable, Logger } from '@nestjs/common';
import { type HealthIndicatorResult, HealthIndicatorService } from '@nestjs/terminus';
import { pendingMigrations } from '../database/migrations.js';
import { ENVIRONMENT, type Environment } from '../environment.js';

const NAME = 'database';
/** Whoever asks within this time gets the same answer: nobody needs a key to ask. */
const ANSWER_LIFE_MS = 1000;

/** Whether the database answers and has every migration of this version. */
@Injectable()
export class DatabaseHealth {
  private readonly logger = new Logger(DatabaseHealth.name);
  private last: { answer: Promise<HealthIndicatorResult>; askedAt: number } | null = null;

  constructor(
    private readonly indicators: HealthIndicatorService,
    @Inject(ENVIRONMENT) private readonly environment: Environment,
  ) {}

  check(): Promise<HealthIndicatorResult> {
    const now = performance.now();
    if (this.last === null || now - this.last.askedAt >= ANSWER_LIFE_MS) {
      this.last = { answer: this.ask(), askedAt: now };
    }
    return this.last.answer;
  }

  private async ask(): Promise<HealthIndicatorResult> {
    const indicator = this.indicators.check(NAME);
    try {
      const pending = await pendingMigrations(this.environment.DATABASE_URL ?? '');
      return pending.length === 0
        ? indicator.up()
        : indicator.down(
            `the database lacks the migrations ${pending.join(', ')}; run "npx prisma migrate deploy"`,
          );
    } catch (error) {
      this.logger.warn(`Not ready: ${String(error)}`);
      return indicator.down('the database does not answer');
    }
  }
}
