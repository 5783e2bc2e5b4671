import { Inject, Injectable } from '@nestjs/common';
import { Prisma } from '../database/generated/client.js';
import { inTransaction } from '../database/in-transaction.js';
import { PeriodicDatabaseTask } from '../database/periodic-task.js';
import { PrismaService } from '../database/prisma.service.js';
import { DeprecatedOperations } from '../deprecation/deprecated-operations.js';
import { FallbackCounterStore } from '../rate-limit/stores/fallback-counter-store.js';
import { Clock } from '../settings/clock.js';
import { ENVIRONMENT, type Environment } from '../settings/environment.js';
import { bans, dayLimits, deprecatedCalls, expiringKeys } from './event-queries.js';
import { EVENTS_MAX, queueEvents, serverNow } from './queue-events.js';

const INTERVAL_MS = 30_000;
/** The number of the advisory lock that a search holds; it only has to be the same in all processes. */
const LOCK = 7_446_220_113;

/** Finds the events that no transaction causes, and queues each once, outside the request path. */
@Injectable()
export class WebhookEventWatch extends PeriodicDatabaseTask {
  constructor(
    private readonly prisma: PrismaService,
    private readonly clock: Clock,
    private readonly counters: FallbackCounterStore,
    private readonly deprecated: DeprecatedOperations,
    @Inject(ENVIRONMENT) private readonly environment: Pick<Environment, 'COUNTER_STORE'>,
  ) {
    super(INTERVAL_MS, () => this.findEvents(), 'Events for webhooks are late');
  }

  /**
   * Queues the events that were not queued before, and returns whether there may be more.
   *
   * @throws the database's error; CounterStoreError, which delays bans alone.
   */
  async findEvents(): Promise<boolean> {
    if ((await this.prisma.webhookEndpoint.count({ where: { disabledAt: null } })) === 0) {
      return false;
    }
    const now = serverNow(this.clock.storeOffsetMs);
    const ofPostgres = this.environment.COUNTER_STORE === undefined;
    const queries = [
      dayLimits(now, ofPostgres),
      expiringKeys(now),
      deprecatedCalls(now, [...this.deprecated.values()]),
    ];
    const found = await this.queue(Prisma.join(queries, ' UNION ALL '));
    const banned = await this.queue(bans(now, await this.counters.bans()));
    return Math.max(found, banned) >= EVENTS_MAX;
  }

  /** Queues the events of a query, unless another replica does so at this moment, and returns the number of deliveries. */
  private queue(events: Prisma.Sql): Promise<number> {
    return inTransaction(this.prisma, async (transaction) => {
      const [lock] = await transaction.$queryRaw<[{ isFree: boolean }]>`
        SELECT pg_try_advisory_xact_lock(${LOCK}) AS "isFree"`;
      return lock.isFree ? queueEvents(transaction, events, this.clock.storeOffsetMs) : 0;
    });
  }
}
