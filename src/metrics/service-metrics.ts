import { Injectable } from '@nestjs/common';
import type { Registry } from 'prom-client';
import { ApiKeyCache } from '../auth/api-key-cache.js';
import { ApiKeyChangeListener } from '../auth/api-key-change-listener.js';
import { PrismaService } from '../database/prisma.service.js';
import { DeprecatedOperations } from '../deprecation/deprecated-operations.js';
import { RemovalWatch } from '../deprecation/removal-watch.js';
import { IdempotencyService } from '../idempotency/idempotency.service.js';
import { about } from '../openapi/about.js';
import { OrderRepository } from '../orders/order.repository.js';
import { PetRepository } from '../pets/pet.repository.js';
import { CounterStore } from '../rate-limit/stores/counter-store.js';
import { FallbackCounterStore } from '../rate-limit/stores/fallback-counter-store.js';
import { ConcurrencyLimit } from '../http/concurrency-limit.js';
import { Connections } from '../server/connections.js';
import { standardOutput } from '../server/standard-stream.js';
import { UsageRecorder } from '../usage/usage.recorder.js';
import { WebhookDeliverer } from '../webhooks/webhook-deliverer.js';
import { MetricsRegistry, PREFIX, type Sample } from './metrics-registry.js';
import { RequestMetricsHook } from './request-metrics.hook.js';

/** Adds every metric of the service to a registry. Each module keeps its own values, which are read here at each scrape. */
@Injectable()
export class ServiceMetrics {
  constructor(
    private readonly requests: RequestMetricsHook,
    private readonly deprecated: DeprecatedOperations,
    private readonly removals: RemovalWatch,
    private readonly concurrencyLimit: ConcurrencyLimit,
    private readonly connections: Connections,
    private readonly keys: ApiKeyCache,
    private readonly listener: ApiKeyChangeListener,
    private readonly counters: FallbackCounterStore,
    private readonly sharedCounters: CounterStore,
    private readonly pets: PetRepository,
    private readonly orders: OrderRepository,
    private readonly idempotency: IdempotencyService,
    private readonly prisma: PrismaService,
    private readonly usage: UsageRecorder,
    private readonly webhooks: WebhookDeliverer,
  ) {}

  /** Returns a registry of all metrics. */
  registry(): Registry {
    const metrics = new MetricsRegistry();
    this.addRequests(metrics);
    this.addRateLimits(metrics);
    this.addApiKeys(metrics);
    this.addQueries(metrics);
    this.addDatabase(metrics);
    this.addWebhooks(metrics);
    metrics.counter('log_dropped_lines_total', 'Lines of the log that were dropped.', [], () => [
      [standardOutput.dropped],
    ]);
    metrics.gauge('build_info', 'Always 1.', ['version'], () => [[1, about.info.version]]);
    return metrics.registry;
  }

  private addRequests(metrics: MetricsRegistry): void {
    const { requests, deprecated, removals, concurrencyLimit, idempotency } = this;
    metrics.histogram(
      'http_server_request_duration_seconds',
      'Time until the response of a request is complete.',
      () => [...requests.durations.values()],
    );
    requests.all.forEach((metric) => metrics.registry.registerMetric(metric));
    // Otherwise the first call would be no increase.
    deprecated.forEach((_declared, operation) => requests.deprecated.inc({ operation }, 0));
    metrics.gauge(
      'deprecated_removal_timestamp_seconds',
      'Unix time at which an operation is removed.',
      ['operation'],
      () => [...deprecated.values()].map(({ operation, removal }) => [removal.getTime() / 1000, operation]),
    );
    metrics.gauge(
      'deprecated_removal_callers',
      'Keys that called an operation in the last 7 days that is removed within 30.',
      ['operation'],
      () => removals.soonRemoved.map(({ operation, callers }) => [callers, operation]),
    );
    metrics.gauge('requests_in_flight', 'Requests that hold a slot of their operation.', ['operation'], () =>
      concurrencyLimit.all().map(({ operation, slots }) => [slots.length, operation]),
    );
    metrics.counter('shed_requests_total', 'Requests denied by overload, with 503.', ['operation'], () =>
      concurrencyLimit.all().map(({ operation, shed }) => [shed, operation]),
    );
    metrics.counter('idempotent_replays_total', 'Stored responses sent again.', [], () => [
      [idempotency.replays],
    ]);
    metrics.counter('connection_errors_total', 'Connections ended by an error.', ['status'], () =>
      [...this.connections.errorsByStatus].map(([status, count]) => [count, String(status)]),
    );
    metrics.counter('connections_closed_total', 'Connections closed beyond a bound.', ['reason'], () =>
      Object.entries(this.connections.closedByBound).map(([bound, count]) => [count, bound]),
    );
  }

  private addRateLimits(metrics: MetricsRegistry): void {
    const { counters } = this;
    metrics.gauge('rate_limit_breaker_state', '1 for the current state, else 0.', ['state'], () => [
      [Number(counters.outage === null), 'closed'],
      [Number(counters.outage !== null), 'open'],
    ]);
    metrics.counter('rate_limit_local_decisions_total', 'Decisions without the counter store.', [], () => [
      [counters.decidedLocally],
    ]);
  }

  private addApiKeys(metrics: MetricsRegistry): void {
    const { keys, listener } = this;
    metrics.counter('api_key_cache_lookups_total', 'Look-ups of API keys.', ['result'], () => [
      [keys.hits, 'hit'],
      [keys.misses, 'miss'],
    ]);
    metrics.counter('api_key_cache_invalidations_total', 'Invalidations of all cached keys.', [], () => [
      [listener.generation],
    ]);
    metrics.gauge('api_key_cache_age_seconds', 'Time since the cache was last confirmed current.', [], () => [
      [listener.ageMs / 1000],
    ]);
    metrics.gauge('api_key_cache_current', '1 while cached keys are used, else 0.', [], () => [
      [Number(listener.isCurrent)],
    ]);
  }

  private addQueries(metrics: MetricsRegistry): void {
    const all = [this.sharedCounters.batches, this.keys.batches, ...this.pets.batches, this.orders.batches];
    metrics.histogram(`${PREFIX}query_duration_seconds`, 'Duration of a batched query.', () =>
      all.map(({ name, seconds }) => [seconds, { query: name }]),
    );
    metrics.histogram(`${PREFIX}query_batch_size`, 'Requests in a batched query.', () =>
      all.map(({ name, sizes }) => [sizes, { query: name }]),
    );
    metrics.counter('query_failures_total', 'Requests whose batched query failed.', ['query'], () =>
      all.map(({ name, failures }) => [failures, name]),
    );
  }

  private addDatabase(metrics: MetricsRegistry): void {
    const pools = () => Object.entries(this.prisma.pools);
    metrics.gauge('database_connections', 'Connections of a pool.', ['pool', 'state'], () =>
      pools().flatMap(([name, { totalCount, idleCount }]): Sample[] => [
        [totalCount - idleCount, name, 'used'],
        [idleCount, name, 'idle'],
      ]),
    );
    metrics.gauge('database_connections_max', 'Maximum connections of a pool.', ['pool'], () =>
      pools().map(([name, { options }]) => [options.max, name]),
    );
    metrics.gauge('database_pending_queries', 'Queries that wait for a connection.', ['pool'], () =>
      pools().map(([name, { waitingCount }]) => [waitingCount, name]),
    );
    const { usage } = this;
    metrics.gauge('usage_queued_entries', 'Usage entries that are not written yet.', [], () => [
      [usage.queuedEntries],
    ]);
    metrics.counter('usage_dropped_requests_total', 'Requests whose usage was dropped.', [], () => [
      [usage.dropped],
    ]);
  }

  private addWebhooks(metrics: MetricsRegistry): void {
    const { webhooks } = this;
    metrics.counter('webhook_attempts_total', 'Attempts to deliver an event.', ['outcome'], () =>
      Object.entries(webhooks.outcomes).map(([outcome, count]) => [count, outcome]),
    );
  }
}
