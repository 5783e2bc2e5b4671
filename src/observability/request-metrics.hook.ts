import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Counter, Histogram } from 'prom-client';
import type { ResponseHook } from '../http/responses/response-hook.js';
import {
  knownMethod,
  operationName,
  routePath,
  routeTemplate,
  urlScheme,
} from '../http/routes/request-line.js';
import { OWN_LIMIT_REASONS } from '../rate-limit/own-limit.decorator.js';
import type { RateLimitDecision } from '../rate-limit/rules/rate-limit-decision.js';
import { WINDOW_NAMES } from '../rate-limit/rules/windows.js';
import { deprecatedOperations } from '../deprecation/deprecated-operations.js';
import { DeclaredRoutes } from '../http/routes/declared-routes.js';
import {
  type Labels,
  type MetricsRegistry,
  type MetricsSource,
  PREFIX,
} from '../process/metrics-registry.js';

/** Upper bounds of the buckets: those that OpenTelemetry's conventions advise, and two for fast lists. */
const ADVISED = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];
const SECONDS = [0.001, 0.0025, ...ADVISED];
/** The statuses of requests that failed. */
const FAILURES = [500, 503];
/** The label of requests without a valid API key; no plan can have this name. */
const ANONYMOUS_PLAN = '(anonymous)';
/** Why a request is denied: by a full window (the day if both are), a ban, or the operation's own limit. */
const REASONS = [...WINDOW_NAMES, 'ban', ...OWN_LIMIT_REASONS] as const;
const DURATION_LABELS = [
  'http_request_method',
  'http_route',
  'http_response_status_code',
  'url_scheme',
  'operation',
] as const;

/** Counts responses by operation and status, and rate-limit decisions by plan. */
@Injectable()
export class RequestMetricsHook implements ResponseHook, MetricsSource {
  /** One histogram for each set of labels, because a label costs more than an observation. */
  private readonly durations = new Map<string, [Histogram, Labels<(typeof DURATION_LABELS)[number]>]>();
  private readonly deprecated = counter(
    'requests_deprecated_total',
    'Requests to deprecated operations.',
    'operation',
  );
  private readonly allowed = counter('rate_limit_allowed_total', 'Requests within their limits.', 'plan');
  private readonly denied = counter('rate_limit_denied_total', 'Requests denied with 429.', 'plan', 'reason');
  private readonly bans = counter('bans_started_total', 'Bans started.', 'plan');
  private readonly plans = new Set<string>();

  constructor(private readonly routes: DeclaredRoutes) {}

  addMetrics(metrics: MetricsRegistry): void {
    metrics.histogram(
      'http_server_request_duration_seconds',
      'Time until the response of a request is complete.',
      DURATION_LABELS,
      () => [...this.durations.values()],
    );
    [this.deprecated, this.allowed, this.denied, this.bans].forEach((metric) =>
      metrics.registry.registerMetric(metric),
    );
    // Without a zero, the first call would not be an increase.
    deprecatedOperations(this.routes).forEach(({ operation }) => this.deprecated.inc({ operation }, 0));
  }

  onSend(request: FastifyRequest, { statusCode, elapsedTime }: FastifyReply): void {
    // Read once, because Fastify makes a new object of it each time.
    const { routeOptions } = request;
    this.histogram(request, routeOptions, statusCode).observe(elapsedTime / 1000);
    if (routeOptions.config.deprecation !== undefined) {
      this.deprecated.inc({ operation: operationName({ routeOptions }) });
    }
    if (request.decision !== null) {
      this.addDecision(request, request.decision);
    }
  }

  private histogram(request: FastifyRequest, route: FastifyRequest['routeOptions'], status: number) {
    const url = routePath(route);
    const method = knownMethod(request.method);
    const scheme = urlScheme(request.protocol);
    const key = `${method} ${scheme} ${status} ${url}`;
    let [histogram] = this.durations.get(key) ?? [];
    if (histogram === undefined) {
      // The registry gives it its name.
      histogram = new Histogram({ name: 'seconds', help: 'seconds', buckets: SECONDS, registers: [] });
      const labels = {
        http_request_method: method,
        http_route: routeTemplate(url),
        http_response_status_code: String(status),
        url_scheme: scheme,
        operation: operationName({ routeOptions: route }),
      };
      this.durations.set(key, [histogram, labels]);
      if (route.config.operation !== undefined) {
        // Otherwise its first failures would be no increase.
        FAILURES.forEach((failure) => this.histogram(request, route, failure));
      }
    }
    return histogram;
  }

  private addDecision({ authentication, ownLimit }: FastifyRequest, decision: RateLimitDecision): void {
    const principal = authentication?.principal;
    const plan = principal?.quota.plan ?? ANONYMOUS_PLAN;
    if (!this.plans.has(plan)) {
      this.plans.add(plan);
      // Otherwise an increase from nothing to one would be invisible.
      [this.allowed, this.bans].forEach((each) => each.inc({ plan }, 0));
      REASONS.forEach((reason) => this.denied.inc({ plan, reason }, 0));
    }
    if (!decision.allowed) {
      this.denied.inc({ plan, reason: ownLimit?.reason ?? denialReason(decision) });
      this.bans.inc({ plan }, Number(decision.ban?.started === true));
    } else if (ownLimit === null) {
      this.allowed.inc({ plan });
    }
  }
}

function counter(name: string, help: string, ...labelNames: string[]): Counter {
  return new Counter({ name: PREFIX + name, help, labelNames, registers: [] });
}

function denialReason({ ban, windows }: RateLimitDecision): (typeof REASONS)[number] {
  if (ban !== null) {
    return 'ban';
  }
  return windows.some(({ name, remaining }) => name === 'day' && remaining === 0) ? 'day' : 'minute';
}
