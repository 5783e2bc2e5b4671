import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Histogram } from 'prom-client';
import type { ResponseInterceptor } from '../http/hooks.js';
import { operationName } from '../http/request-path.js';
import type { RateLimitDecision } from '../rate-limit/rules/rate-limit-decision.js';

/** Upper bounds of the buckets, from the duration of a fast list to the longest wait of a request. */
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** The label of requests without a valid API key; no plan can have this name. */
const ANONYMOUS_PLAN = '(anonymous)';

/** The responses of one operation with one status. */
interface ResponseCounts {
  operation: string;
  status: string;
  isDeprecated: boolean;
  count: number;
  seconds: Histogram;
}

/** The rate-limit decisions on the requests of one plan. */
class PlanCounts {
  allowed = 0;
  bansStarted = 0;
  /** Denied requests by reason: a full window (the day if both are full), a ban, or the limit of rate-limit status requests. */
  readonly denied = { minute: 0, day: 0, ban: 0, status: 0 };
}

/** Counts responses by operation and status, and rate-limit decisions by plan. */
@Injectable()
export class RequestMetrics implements ResponseInterceptor {
  readonly plans = new Map<string, PlanCounts>();
  private readonly byOperation = new Map<string, ResponseCounts>();

  get responses(): ResponseCounts[] {
    return [...this.byOperation.values()];
  }

  /** Counts a request whose response is complete. */
  intercept(request: FastifyRequest, { statusCode, elapsedTime }: FastifyReply): void {
    const responses = this.countsFor(request, statusCode);
    responses.count += 1;
    responses.seconds.observe(elapsedTime / 1000);
    if (request.decision !== null) {
      this.addDecision(request, request.decision);
    }
  }

  private addDecision({ authentication, routeOptions }: FastifyRequest, decision: RateLimitDecision): void {
    const principal = authentication?.principal;
    const isStatus = Boolean(principal) && routeOptions.config.statusRequestsPerMinute !== undefined;
    const plan = principal?.quota.plan ?? ANONYMOUS_PLAN;
    const counts = getOrAdd(this.plans, plan, () => new PlanCounts());
    if (!decision.allowed) {
      counts.denied[isStatus ? 'status' : denialReason(decision)] += 1;
      counts.bansStarted += Number(decision.ban?.started === true);
    } else if (!isStatus) {
      // A status request consumes nothing from the quota.
      counts.allowed += 1;
    }
  }

  private countsFor(request: FastifyRequest, statusCode: number): ResponseCounts {
    const operation = operationName(request);
    return getOrAdd(this.byOperation, `${operation} ${statusCode}`, () => ({
      operation,
      status: String(statusCode),
      isDeprecated: request.routeOptions.config.deprecation !== undefined,
      count: 0,
      seconds: new Histogram({ name: 'seconds', help: operation, buckets: SECONDS, registers: [] }),
    }));
  }
}

function getOrAdd<Value>(map: Map<string, Value>, key: string, create: () => Value): Value {
  let value = map.get(key);
  if (value === undefined) {
    value = create();
    map.set(key, value);
  }
  return value;
}

function denialReason({ ban, windows }: RateLimitDecision): 'minute' | 'day' | 'ban' {
  if (ban !== null) {
    return 'ban';
  }
  return windows.some(({ name, remaining }) => name === 'day' && remaining === 0) ? 'day' : 'minute';
}
