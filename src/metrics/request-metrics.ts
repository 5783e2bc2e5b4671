import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Histogram } from './histogram.js';
import { operationOf } from '../http/request-path.js';
import type { RateLimitDecision } from '../rate-limit/rules/rate-limit-decision.js';

/** Upper bounds of the buckets, from the duration of a fast list to the longest wait of a request. */
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** The label of requests without a valid API key; no plan can have this name. */
export const ANONYMOUS_PLAN = '(stranger)';

/** What denied a request: a full window (the day if both are full), a ban, or the limit of rate-limit status requests. */
type Denial = 'minute' | 'day' | 'ban' | 'inquiries';

/** The responses of one operation with one status. */
interface Responses {
  operation: string;
  status: number;
  isDeprecated: boolean;
  seconds: Histogram;
}

/** The decisions on the counted requests of one plan. */
interface PlanDecisions {
  plan: string;
  allowed: number;
  denied: Record<Denial, number>;
  bansStarted: number;
}

/** Counts responses by operation and status, and rate-limit decisions by plan. */
@Injectable()
export class RequestMetrics {
  private readonly responses = new Map<string, Responses>();
  private readonly decisions = new Map<string, PlanDecisions>();

  /** Counts a request whose response is complete. */
  record(request: FastifyRequest, { statusCode, elapsedTime }: FastifyReply): void {
    this.responsesOf(request, statusCode).seconds.observe(elapsedTime / 1000);
    if (request.decision !== null) {
      this.addDecision(request, request.decision);
    }
  }

  allResponses(): Responses[] {
    return [...this.responses.values()];
  }

  allDecisions(): PlanDecisions[] {
    return [...this.decisions.values()];
  }

  private addDecision({ authentication, routeOptions }: FastifyRequest, decision: RateLimitDecision): void {
    const principal = authentication?.principal;
    const isStatus = Boolean(principal) && routeOptions.config.statusRequestsPerMinute !== undefined;
    if (isStatus && decision.allowed) {
      // It consumed nothing from the quota.
      return;
    }
    const decisions = this.decisionsOf(principal?.quota.plan ?? ANONYMOUS_PLAN);
    if (decision.allowed) {
      decisions.allowed += 1;
    } else {
      decisions.denied[isStatus ? 'inquiries' : denialOf(decision)] += 1;
      decisions.bansStarted += Number(decision.ban?.started === true);
    }
  }

  private responsesOf(request: FastifyRequest, status: number): Responses {
    const operation = operationOf(request);
    const key = `${operation} ${status}`;
    let responses = this.responses.get(key);
    if (responses === undefined) {
      const isDeprecated = request.routeOptions.config.deprecation !== undefined;
      responses = { operation, status, isDeprecated, seconds: new Histogram(SECONDS) };
      this.responses.set(key, responses);
    }
    return responses;
  }

  private decisionsOf(plan: string): PlanDecisions {
    let decisions = this.decisions.get(plan);
    if (decisions === undefined) {
      decisions = { plan, allowed: 0, denied: { minute: 0, day: 0, ban: 0, inquiries: 0 }, bansStarted: 0 };
      this.decisions.set(plan, decisions);
    }
    return decisions;
  }
}

function denialOf({ ban, windows }: RateLimitDecision): Denial {
  if (ban !== null) {
    return 'ban';
  }
  return windows.some(({ name, remaining }) => name === 'day' && remaining === 0) ? 'day' : 'minute';
}
