import { type FastifyReply, type FastifyRequest, LogController } from 'fastify';
import { isProtected, operationOf } from '../http/request-path.js';
import type { Principal } from '../principal.js';
import { decisionWord } from './decision-word.js';
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
    const isStatus = request.routeOptions.config.inquiriesPerMinute !== undefined;
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
