import { Injectable } from '@nestjs/common';
import { PeriodicDatabaseTask } from '../database/periodic-task.js';
import { loadSql, QueryRunner } from '../database/query-runner.js';
import { Clock } from '../settings/clock.js';
import { DeprecatedOperations } from './deprecated-operations.js';

const COUNT_CALLERS = loadSql(import.meta.url, 'count-callers');
const INTERVAL_MS = 60_000;
const DAY_MS = 86_400_000;
const SOON_DAYS = 30;
const CALLED_DAYS = 7;

/** An operation that is removed within 30 days. */
interface SoonRemoved {
  operation: string;
  removal: Date;
  /** Keys that called it in the last seven UTC days, today included. */
  callers: number;
}

/** Counts each minute the keys that still call operations which are soon removed, for the health and the metrics. */
@Injectable()
export class RemovalWatch extends PeriodicDatabaseTask {
  /** As of the last count. */
  soonRemoved: SoonRemoved[] = [];

  constructor(
    private readonly queries: QueryRunner,
    private readonly operations: DeprecatedOperations,
    private readonly clock: Clock,
  ) {
    super(INTERVAL_MS, () => this.count(), 'Callers of operations that are soon removed were not counted');
  }

  /** A sentence for each of these operations that is called. */
  get warnings(): string[] {
    return this.soonRemoved
      .filter(({ callers }) => callers > 0)
      .map(
        ({ operation, removal, callers }) =>
          `An operation is called that is soon removed: ${operation}, on ${removal.toISOString().slice(0, 10)}; ` +
          `keys that called it in the last ${CALLED_DAYS} days: ${callers} (GET /admin/deprecations lists them).`,
      );
  }

  /**
   * Counts the keys. While no operation is soon removed, it reads nothing.
   *
   * @returns false: there is never more to count.
   * @throws the database's error.
   */
  async count(): Promise<false> {
    const nowMs = this.clock.now();
    const soon = [...this.operations.values()].filter(
      ({ removal }) => removal.getTime() > nowMs && removal.getTime() <= nowMs + SOON_DAYS * DAY_MS,
    );
    const since = new Date((Math.floor(nowMs / DAY_MS) - CALLED_DAYS + 1) * DAY_MS);
    const rows =
      soon.length === 0
        ? []
        : await this.queries.run<[operation: string, callers: number]>(COUNT_CALLERS, [
            soon.map(({ operation }) => operation),
            since,
          ]);
    const callers = new Map(rows);
    this.soonRemoved = soon.map(({ operation, removal }) => ({
      operation,
      removal,
      callers: callers.get(operation) ?? 0,
    }));
    return false;
  }
}
