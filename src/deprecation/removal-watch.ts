import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { PeriodicTask } from '../database/batches/periodic-task.js';
import { PrismaService } from '../database/access/prisma.service.js';
import type { MetricsRegistry, MetricsSource } from '../process/metrics-registry.js';
import { DatabaseClock } from '../database/access/database-clock.js';
import { DeclaredRoutes } from '../http/routes/declared-routes.js';
import { deprecatedOperations } from './deprecated-operations.js';
import { DAY_MS, MINUTE_MS } from '../process/time-units.js';

const SOON_MS = 30 * DAY_MS;
const CALLED_MS = 7 * DAY_MS;

/** Counts each minute the keys that still call operations which are soon removed. */
@Injectable()
export class RemovalWatch extends PeriodicTask implements OnApplicationBootstrap, MetricsSource {
  /**
   * The operations that are removed within 30 days, and the keys that called each in the last 7 UTC days, as
   * of the last count.
   */
  soonRemoved: { operation: string; removal: Date; callers: number }[] = [];

  constructor(
    private readonly prisma: PrismaService,
    private readonly routes: DeclaredRoutes,
    private readonly clock: DatabaseClock,
  ) {
    super(MINUTE_MS, () => this.count(), 'Could not count callers of operations that will soon be removed');
  }

  addMetrics(metrics: MetricsRegistry): void {
    metrics.gauge(
      'deprecated_operation_sunset_timestamp_seconds',
      'Unix time at which an operation is removed.',
      ['operation'],
      () =>
        deprecatedOperations(this.routes).map(({ operation, removal }) => [
          removal.getTime() / 1000,
          operation,
        ]),
    );
    metrics.gauge(
      'deprecated_operation_recent_callers',
      'Keys that called, in the last 7 days, an operation that is removed within 30.',
      ['operation'],
      () => this.soonRemoved.map(({ operation, callers }) => [callers, operation]),
    );
  }

  /** Otherwise a restart would hide a warning for a minute. */
  onApplicationBootstrap(): void {
    this.runNow();
  }

  /** One for each of these operations that is called. `GET /admin/deprecations` lists its callers. */
  get warnings() {
    return this.soonRemoved
      .filter(({ callers }) => callers > 0)
      .map(({ operation, removal, callers }) => {
        const day = removal.toISOString().slice(0, 10);
        const keys = callers === 1 ? '1 key' : `${callers} keys`;
        const message = `${operation} will be removed on ${day}, but ${keys} called it in the last 7 days`;
        return { code: 'deprecated_operation_called' as const, message };
      });
  }

  /** @throws the database's error. */
  async count(): Promise<void> {
    const nowMs = this.clock.now();
    const soon = deprecatedOperations(this.routes).filter(
      ({ removal }) => removal.getTime() > nowMs && removal.getTime() <= nowMs + SOON_MS,
    );
    if (soon.length === 0) {
      this.soonRemoved = [];
      return;
    }
    const counted = await this.prisma.$queryRaw<{ operation: string; callers: number }[]>`
      SELECT operation, count(DISTINCT key_id)::int AS callers FROM usage
      WHERE period = 'day' AND deprecated
        AND operation = ANY (${soon.map(({ operation }) => operation)}::text[])
        AND starts_at > ${new Date(nowMs - CALLED_MS)}
      GROUP BY operation`;
    const callers = new Map(counted.map((each) => [each.operation, each.callers]));
    this.soonRemoved = soon.map((each) => ({ ...each, callers: callers.get(each.operation) ?? 0 }));
  }
}
