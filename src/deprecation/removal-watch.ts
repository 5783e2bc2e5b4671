import { Injectable } from '@nestjs/common';
import { PeriodicDatabaseTask } from '../database/periodic-task.js';
import { loadSql, QueryRunner } from '../database/query-runner.js';
import { Clock } from '../settings/clock.js';
import { DeprecatedOperations } from './deprecated-operations.js';

const COUNT_CALLERS = loadSql(import.meta.url, 'count-callers');
const INTERVAL_MS = 60_000;

/** Counts each minute the keys that still call operations which are soon removed, for the health and the metrics. */
@Injectable()
export class RemovalWatch extends PeriodicDatabaseTask {
  /** The operations that are removed within 30 days, and the keys that called each in the last seven, as of the last count. */
  soonRemoved: [operation: string, removal: Date, callers: number][] = [];

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
      .filter(([, , callers]) => callers > 0)
      .map(
        ([operation, removal, callers]) =>
          `An operation is called that is soon removed: ${operation}, on ${removal.toISOString().slice(0, 10)}; ` +
          `keys that called it in the last 7 days: ${callers} (GET /admin/deprecations lists them).`,
      );
  }

  /**
   * @returns false: there is never more to count.
   * @throws the database's error.
   */
  async count(): Promise<false> {
    const all = [...this.operations.values()];
    const columns = [all.map(({ operation }) => operation), all.map(({ removal }) => removal)];
    this.soonRemoved = await this.queries.run(COUNT_CALLERS, [...columns, new Date(this.clock.now())]);
    return false;
  }
}
