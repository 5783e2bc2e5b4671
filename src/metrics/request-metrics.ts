import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Counter, Histogram } from 'prom-client';
import type { ResponseInterceptor } from '../http/hooks.js';
import { operationName } from '../http/request-path.js';
import type { RateLimitDecision } from '../rate-limit/rules/rate-limit-decision.js';
import { PREFIX } from './metrics-registry.js';

/** Upper bounds of the buckets, from the duration of a fast list to the longest wait of a request. */
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** The label of requests without a valid API key; no plan can have this name. */
const ANONYMOUS_PLAN = '(anonymous)';
/** Why a request is denied: a full window (the day if both are full), a ban, or the limit of rate-limit status requests. */
const REASONS = ['minute', 'day', 'ban', 'status'] as const;

/** Counts responses by operation and status, and rate-limit decisions by plan. */
@Injectable()
export class RequestMetrics implements ResponseInterceptor {
  private readonly seconds = new Histogram<string>({
    name: `${PREFIX}request_duration_seconds`,
    help: 'Time until the response of a request is complete.',
    labelNames: ['operation', 'status'],
    buckets: SECONDS,
    registers: [],
  });
  private readonly deprecated = counter(
    'deprecated_requests_total',
    'Requests to deprecated operations.',
    'operation',
  );
  private readonly allowed = counter('rate_limit_allowed_total', 'Requests within their limits.', 'plan');
  private readonly denied = counter('rate_limit_denied_total', 'Requests denied with 429.', 'plan', 'reason');
  private readonly bans = counter('bans_started_total', 'Bans started.', 'plan');
  private readonly plans = new Set<string>();
  /** All of these metrics, for a registry. */
  readonly all = [this.seconds, this.deprecated, this.allowed, this.denied, this.bans];

  /** Counts a request whose response is complete. */
  intercept(request: FastifyRequest, { statusCode, elapsedTime }: FastifyReply): void {
    const operation = operationName(request);
    this.seconds.observe({ operation, status: statusCode }, elapsedTime / 1000);
    if (request.routeOptions.config.deprecation !== undefined) {
      this.deprecated.inc({ operation });
    }
    if (request.decision !== null) {
      this.addDecision(request, request.decision);
    }
  }

  private addDecision({ authentication, routeOptions }: FastifyRequest, decision: RateLimitDecision): void {
    const principal = authentication?.principal;
    const isStatus = Boolean(principal) && routeOptions.config.statusRequestsPerMinute !== undefined;
    const plan = principal?.quota.plan ?? ANONYMOUS_PLAN;
    if (!this.plans.has(plan)) {
      this.plans.add(plan);
      // Otherwise an increase from nothing to one would be invisible.
      [this.allowed, this.bans].forEach((each) => each.inc({ plan }, 0));
      REASONS.forEach((reason) => this.denied.inc({ plan, reason }, 0));
    }
    if (!decision.allowed) {
      this.denied.inc({ plan, reason: isStatus ? 'status' : denialReason(decision) });
      this.bans.inc({ plan }, Number(decision.ban?.started === true));
    } else if (!isStatus) {
      // A status request consumes nothing from the quota.
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
