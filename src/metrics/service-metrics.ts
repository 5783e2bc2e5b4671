import { Inject, Injectable } from '@nestjs/common';
import type { Registry } from 'prom-client';
import { ApiKeyCache } from '../auth/api-key-cache.js';
import { ApiKeyChangeListener } from '../auth/api-key-change-listener.js';
import { PrismaService } from '../database/prisma.service.js';
import { ConcurrencyLimit } from '../server/concurrency-limit.js';
import { RefusedConnections } from '../server/refused-connections.js';
import { UnsentResponses } from '../server/unsent-responses.js';
import { IdempotencyService } from '../idempotency/idempotency.service.js';
import { OrderRepository } from '../orders/order.repository.js';
import { about } from '../openapi/about.js';
import { PetRepository } from '../pets/pet.repository.js';
import { BREAKER_STATES } from '../rate-limit/rules/breaker.js';
import { FallbackCounterStore, SHARED_COUNTER_STORE } from '../rate-limit/stores/fallback-counter-store.js';
import type { PostgresCounterStore } from '../rate-limit/stores/postgres-counter-store.js';
import type { RedisCounterStore } from '../rate-limit/stores/redis-counter-store.js';
import { UsageRecorder } from '../usage/usage.recorder.js';
import { Metrics } from './metrics.js';
import { ANONYMOUS_PLAN, RequestMetrics } from './request-metrics.js';

const PREFIX = 'animal_store_';

/** Registers every metric of the service. Each module keeps its own values, which are read here at each scrape. */
@Injectable()
export class ServiceMetrics {
  constructor(
    private readonly requests: RequestMetrics,
    private readonly concurrencyLimit: ConcurrencyLimit,
    private readonly refusedConnections: RefusedConnections,
    private readonly unsentResponses: UnsentResponses,
    private readonly keys: ApiKeyCache,
    private readonly listener: ApiKeyChangeListener,
    private readonly counters: FallbackCounterStore,
    @Inject(SHARED_COUNTER_STORE) private readonly sharedCounters: PostgresCounterStore | RedisCounterStore,
    private readonly pets: PetRepository,
    private readonly orders: OrderRepository,
    private readonly idempotency: IdempotencyService,
    private readonly prisma: PrismaService,
    private readonly usage: UsageRecorder,
  ) {}

  /** Returns the registry of all metrics, and loads the metrics library. */
  async registry(): Promise<Registry> {
    const { default: prometheus } = await import('prom-client');
    const metrics = new Metrics(prometheus);
    this.addRequests(metrics);
    this.addLimits(metrics);
    this.addKeys(metrics);
    this.addDatabase(metrics);
    this.addRest(metrics);
    prometheus.collectDefaultMetrics({ register: metrics.registry });
    return metrics.registry;
  }

  private addRequests(metrics: Metrics): void {
    metrics.histogram(
      {
        name: `${PREFIX}request_duration_seconds`,
        help: 'Time from the arrival of a request until its response was complete, by operation and status.',
      },
      () =>
        this.requests.allResponses().map(({ operation, status, seconds }) => ({
          labels: { operation, status },
          histogram: seconds,
        })),
    );
    metrics.gauge(
      {
        name: `${PREFIX}requests_under_way`,
        help: 'Requests in flight, at most MAX_CONCURRENT_REQUESTS for each operation.',
        labelNames: ['operation'],
      },
      () =>
        this.concurrencyLimit
          .all()
          .map(({ operation, slots }) => ({ labels: { operation }, value: slots.length })),
    );
    metrics.counter(
      {
        name: `${PREFIX}shed_requests_total`,
        help: 'Requests that got 503 immediately because all slots of their operation were taken.',
        labelNames: ['operation'],
      },
      () =>
        this.concurrencyLimit.all().map(({ operation, shed }) => ({ labels: { operation }, value: shed })),
    );
    metrics.counter(
      {
        name: `${PREFIX}refused_connections_total`,
        help: 'Connections without a valid request in time, by the status of the response.',
        labelNames: ['status'],
      },
      () => [...this.refusedConnections.byStatus].map(([status, value]) => ({ labels: { status }, value })),
    );
    metrics.counter(
      {
        name: `${PREFIX}slow_connections_closed_total`,
        help: 'Connections closed because 64 MiB of responses were unsent and their clients read the slowest.',
      },
      () => [{ value: this.unsentResponses.closedConnections }],
    );
    metrics.counter(
      {
        name: `${PREFIX}deprecated_requests_total`,
        help: 'Requests to deprecated operations.',
        labelNames: ['operation'],
      },
      () =>
        this.requests
          .allResponses()
          .filter(({ isDeprecated }) => isDeprecated)
          .map(({ operation, seconds }) => ({ labels: { operation }, value: seconds.count })),
    );
    metrics.counter(
      {
        name: `${PREFIX}idempotent_replays_total`,
        help: 'Stored responses that were replayed for an Idempotency-Key.',
      },
      () => [{ value: this.idempotency.replays }],
    );
  }

  private addLimits(metrics: Metrics): void {
    const plans = () => this.requests.allDecisions();
    metrics.counter(
      {
        name: `${PREFIX}admitted_requests_total`,
        help: 'Allowed requests, by plan and window. A request counts once in every window of its plan.',
        labelNames: ['plan', 'window'],
      },
      () =>
        plans().flatMap(({ plan, allowed }) =>
          (plan === ANONYMOUS_PLAN ? ['minute'] : ['minute', 'day']).map((window) => ({
            labels: { plan, window },
            value: allowed,
          })),
        ),
    );
    metrics.counter(
      {
        name: `${PREFIX}refused_requests_total`,
        help: 'Requests that got 429, each counted once, by what denied them.',
        labelNames: ['plan', 'window'],
      },
      () =>
        plans().flatMap(({ plan, denied }) =>
          Object.entries(denied).map(([window, value]) => ({ labels: { plan, window }, value })),
        ),
    );
    metrics.counter(
      { name: `${PREFIX}bans_started_total`, help: 'Bans started, by plan.', labelNames: ['plan'] },
      () => plans().map(({ plan, bansStarted }) => ({ labels: { plan }, value: bansStarted })),
    );
    metrics.gauge(
      {
        name: `${PREFIX}rate_limit_breaker`,
        help: '1 for the current state: closed while the counter store is used, open while this replica counts locally.',
        labelNames: ['state'],
      },
      () =>
        BREAKER_STATES.map((state) => ({
          labels: { state },
          value: Number(state === this.counters.breakerState),
        })),
    );
    metrics.counter(
      {
        name: `${PREFIX}decided_alone_total`,
        help: 'Requests that this replica allowed or denied locally, without the counter store.',
      },
      () => [{ value: this.counters.decidedLocally }],
    );
  }

  private addKeys(metrics: Metrics): void {
    metrics.counter(
      {
        name: `${PREFIX}key_lookups_total`,
        help: 'Key lookups served by the cache (hit) or by the database (miss).',
        labelNames: ['result'],
      },
      () => [
        { labels: { result: 'hit' }, value: this.keys.hits },
        { labels: { result: 'miss' }, value: this.keys.misses },
      ],
    );
    metrics.gauge(
      {
        name: `${PREFIX}key_knowledge_age_seconds`,
        help: 'Time since the key cache was last known to be current. Above 0.8 the cache is not used.',
      },
      () => [{ value: this.listener.ageMs / 1000 }],
    );
    metrics.gauge(
      {
        name: `${PREFIX}key_watch_holds`,
        help: '1 while changes to keys are received and the key cache is used; otherwise 0.',
      },
      () => [{ value: Number(this.listener.isCurrent) }],
    );
    metrics.counter(
      {
        name: `${PREFIX}key_changes_total`,
        help: 'Changes to keys, quotas and plans received, and connections made to receive them.',
      },
      () => [{ value: this.listener.generation }],
    );
  }

  private addDatabase(metrics: Metrics): void {
    const all = [this.sharedCounters.batches, this.keys.batches, ...this.pets.batches, this.orders.batches];
    metrics.histogram(
      {
        name: `${PREFIX}question_duration_seconds`,
        help: 'Duration of batched queries to a store, by query; count is the query to the counter store.',
      },
      () => all.map(({ name, seconds }) => ({ labels: { question: name }, histogram: seconds })),
    );
    metrics.histogram({ name: `${PREFIX}question_batch_size`, help: 'Items in a batched query.' }, () =>
      all.map(({ name, sizes }) => ({ labels: { question: name }, histogram: sizes })),
    );
    metrics.counter(
      {
        name: `${PREFIX}question_failures_total`,
        help: 'Items of batched queries that failed.',
        labelNames: ['question'],
      },
      () => all.map(({ name, failures }) => ({ labels: { question: name }, value: failures })),
    );
    const pools = () => Object.entries(this.prisma.poolStates);
    metrics.gauge(
      {
        name: `${PREFIX}database_connections`,
        help: 'Connections of a pool, by state.',
        labelNames: ['pool', 'state'],
      },
      () =>
        pools().flatMap(([pool, { open, idle }]) => [
          { labels: { pool, state: 'used' }, value: open - idle },
          { labels: { pool, state: 'idle' }, value: idle },
        ]),
    );
    metrics.gauge(
      {
        name: `${PREFIX}database_connections_max`,
        help: 'Maximum connections of a pool.',
        labelNames: ['pool'],
      },
      () => pools().map(([pool, { max }]) => ({ labels: { pool }, value: max })),
    );
    metrics.gauge(
      {
        name: `${PREFIX}database_connections_wanted`,
        help: 'Queries that wait for a connection of a pool.',
        labelNames: ['pool'],
      },
      () => pools().map(([pool, { waiting }]) => ({ labels: { pool }, value: waiting })),
    );
  }

  private addRest(metrics: Metrics): void {
    metrics.gauge(
      {
        name: `${PREFIX}usage_waiting_entries`,
        help: 'Entries of usage that are not in the journal yet. At 50 000, new entries are dropped.',
      },
      () => [{ value: this.usage.queuedEntries }],
    );
    metrics.counter(
      { name: `${PREFIX}usage_left_out_total`, help: 'Requests whose usage was dropped.' },
      () => [{ value: this.usage.dropped }],
    );
    metrics.gauge(
      {
        name: `${PREFIX}build_info`,
        help: 'Always 1, with the version of the service as a label.',
        labelNames: ['version'],
      },
      () => [{ labels: { version: about.info.version }, value: 1 }],
    );
  }
}
