import { type FastifyReply, type FastifyRequest, LogController } from 'fastify';
import { isProtected, operationOf } from '../http/request-path.js';
import type { Principal } from '../http/principal.js';
import type { RateLimitDecision } from '../rate-limit/rules/rate-limit-decision.js';
import { loggableAddress, loggablePath, loggableUserAgent } from './loggable.js';

/** Logs one line for each request, when its response is sent. */
export class RequestLog extends LogController {
  constructor() {
    super({ requestIdLogLabel: 'requestId' });
  }

  /** Logs nothing: the line of the response has it all. */
  override incomingRequest(): void {}

  override requestCompleted(
    error: Error | null | undefined,
    request: FastifyRequest,
    reply: FastifyReply,
  ): void {
    const { decision, isShed, reportedWindow } = request;
    const isStatus = request.routeOptions.config.statusRequestsPerMinute !== undefined;
    const isLimited = decision !== null || isProtected(request);
    const principal = isLimited ? principalOf(request) : null;
    request.log.info(
      {
        method: request.method,
        path: loggablePath(request),
        operation: operationOf(request),
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime * 10) / 10,
        decision: isLimited ? decisionWord({ decision, isShed, isStatus }) : undefined,
        window: reportedWindow?.name,
        limit: reportedWindow?.limit,
        remaining: reportedWindow?.remaining,
        plan: principal?.quota.plan,
        keyId: principal?.keyId,
        quotaId: principal?.quota.id,
        address: loggableAddress(request),
        userAgent: loggableUserAgent(request),
        ...(error && { err: error }),
      },
      'request',
    );
  }
}

/** Returns whose key the request has: as authenticated, or as last known where it was denied before. */
function principalOf(request: FastifyRequest): Principal | null {
  return request.authentication === null ? request.lastKnownPrincipal : request.authentication.principal;
}

/**
 * How the rate limiter decided on a request, in one word.
 *
 * - `allowed`: it took one from each window.
 * - `denied`: a window was full.
 * - `banned`: it started or met a ban.
 * - `local`: this replica allowed it by itself, as the counter store is away.
 * - `uncounted`: it took nothing, such as `GET /v1/rate-limit`, or a request during a shutdown.
 * - `shed`: the server was overloaded.
 */
export type DecisionWord = 'allowed' | 'denied' | 'banned' | 'local' | 'uncounted' | 'shed';

/** What the word depends on besides the decision, which is null where there was none. */
interface DecidedRequest {
  decision: Pick<RateLimitDecision, 'allowed' | 'ban' | 'degraded'> | null;
  isShed: boolean;
  /** Whether it requests its rate-limit status, which is counted apart. */
  isStatus: boolean;
}

export function decisionWord({ decision, isShed, isStatus }: DecidedRequest): DecisionWord {
  if (decision === null) {
    return isShed ? 'shed' : 'uncounted';
  }
  if (!decision.allowed) {
    return decision.ban === null ? 'denied' : 'banned';
  }
  if (isStatus) {
    return 'uncounted';
  }
  return decision.degraded ? 'local' : 'allowed';
}
