import { Inject, Injectable } from '@nestjs/common';
import { databaseReason } from '../database/access/availability.js';
import { PeriodicTask } from '../database/batches/periodic-task.js';
import { PrismaService } from '../database/access/prisma.service.js';
import { loadSql } from '../database/access/statement.js';
import { deprecatedOperations } from '../deprecation/deprecated-operations.js';
import { DeclaredRoutes } from '../http/routes/declared-routes.js';
import { uncountedOperations } from '../rate-limit/own-limit.decorator.js';
import { FallbackCounterStore } from '../rate-limit/stores/fallback-counter-store.js';
import { ENVIRONMENT, type Environment } from '../process/settings/environment.js';
import { type EventType, TEST_EVENT } from './events.js';
import { queueEvents, type WebhookEvent } from './queue-events.js';

const FIND_EVENTS = loadSql<WebhookEvent>(import.meta.url, 'find-events');
const INTERVAL_MS = 30_000;
/** The types of events, by what they are found in: if that cannot be read, the others are found. */
const SOURCES: readonly EventType[][] = [
  ['quota.banned'],
  ['quota.day_limit_approaching', 'quota.day_limit_reached'],
  ['key.expiring'],
  ['key.deprecated_operation_called'],
];

/** Queues the events that no transaction causes, outside the request path, and deletes old deliveries. */
@Injectable()
export class WebhookEventWatch extends PeriodicTask {
  /** The sources that failed in the last run: only the first of several failures in a row is logged. */
  private readonly failing = new Set<readonly EventType[]>();

  constructor(
    private readonly prisma: PrismaService,
    private readonly counters: FallbackCounterStore,
    private readonly routes: DeclaredRoutes,
    @Inject(ENVIRONMENT) private readonly environment: Pick<Environment, 'COUNTER_STORE_URL'>,
  ) {
    super(INTERVAL_MS, () => this.findEvents(), 'Could not find events for webhooks');
  }

  /**
   * Queues events that were not queued before, whichever replica finds them first, and returns whether there
   * may be more.
   *
   * @throws the database's error.
   */
  async findEvents(): Promise<boolean> {
    if ((await this.prisma.webhook.count()) === 0) {
      return false;
    }
    let found = 0;
    for (const types of SOURCES) {
      try {
        found += await this.findEventsOf(types);
        this.failing.delete(types);
      } catch (error) {
        if (!this.failing.has(types)) {
          this.logger.warn(`Could not find ${types.join(', ')} for webhooks: ${databaseReason(error)}`);
        }
        this.failing.add(types);
      }
    }
    // No event is found again after so long, except a ban of months.
    await this.prisma.$executeRaw`
      DELETE FROM webhook_deliveries WHERE created_at < statement_timestamp() - interval '30 days'`;
    await this.failLostTests();
    return found > 0;
  }

  /** A test event is not sent again, though a crash left no outcome. */
  private async failLostTests(): Promise<void> {
    await this.prisma.$executeRaw`
      UPDATE webhook_deliveries
      SET
        state = 'failed', next_attempt_at = NULL,
        last_failure = coalesce(last_failure, 'The service ended during the attempt')
      WHERE
        event_type = ${TEST_EVENT} AND state = 'pending' AND attempts > 0
        AND next_attempt_at <= statement_timestamp()`;
  }

  private async findEventsOf(types: readonly EventType[]): Promise<number> {
    const bans = types.includes('quota.banned') ? Object.fromEntries(await this.counters.bans()) : {};
    const removals = Object.fromEntries(
      deprecatedOperations(this.routes).map(({ operation, removal }) => [operation, removal]),
    );
    const events = await this.prisma.sql.query(
      FIND_EVENTS,
      this.environment.COUNTER_STORE_URL === undefined,
      JSON.stringify(bans),
      JSON.stringify(removals),
      uncountedOperations(this.routes),
      types,
    );
    await queueEvents(this.prisma, events);
    return events.length;
  }
}
