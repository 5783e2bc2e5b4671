import { Inject, Injectable } from '@nestjs/common';
import { PeriodicDatabaseTask } from '../database/periodic-task.js';
import { PrismaService } from '../database/prisma.service.js';
import { loadSql } from '../database/statement.js';
import { DeprecatedOperations } from '../deprecation/deprecated-operations.js';
import { uncountedOperations } from '../rate-limit/uncounted-operations.js';
import { FallbackCounterStore } from '../rate-limit/stores/fallback-counter-store.js';
import { ENVIRONMENT, type Environment } from '../settings/environment.js';
import { queueEvents, type WebhookEvent } from './queue-events.js';

const FIND_EVENTS = loadSql<WebhookEvent>(import.meta.url, 'find-events');
const INTERVAL_MS = 30_000;

/** Queues the events that no transaction causes, outside the request path, and deletes old deliveries. */
@Injectable()
export class WebhookEventWatch extends PeriodicDatabaseTask {
  constructor(
    private readonly prisma: PrismaService,
    private readonly counters: FallbackCounterStore,
    private readonly deprecated: DeprecatedOperations,
    @Inject(ENVIRONMENT) private readonly environment: Pick<Environment, 'COUNTER_STORE_URL'>,
  ) {
    super(INTERVAL_MS, () => this.findEvents(), 'Could not find events for webhooks');
  }

  /**
   * Queues events that were not queued before, whichever replica finds them first, and returns whether there
   * may be more.
   *
   * @throws the database's error; CounterStoreError.
   */
  async findEvents(): Promise<boolean> {
    if ((await this.prisma.webhook.count()) === 0) {
      return false;
    }
    const bans = Object.fromEntries(await this.counters.bans());
    const removals = Object.fromEntries(
      [...this.deprecated].map(([operation, { removal }]) => [operation, removal]),
    );
    const events = await this.prisma.query(
      FIND_EVENTS,
      this.environment.COUNTER_STORE_URL === undefined,
      JSON.stringify(bans),
      JSON.stringify(removals),
      uncountedOperations(),
    );
    await queueEvents(this.prisma, events);
    // No event is found again after so long, except a ban of months.
    await this.prisma.$executeRaw`
      DELETE FROM webhook_deliveries WHERE created_at < statement_timestamp() - interval '30 days'`;
    return events.length > 0;
  }
}
