import { type FastifyReply, type FastifyRequest, LogController } from 'fastify';
import { operationName } from '../http/routes/request-line.js';
import { findKnownKey } from '../auth/principal.js';
import { loggablePath, loggableUserAgent, withoutKeys } from '../http/rules/loggable.js';
import { addressText } from '../http/rules/network.js';

/** Logs one line for each request, when its response is sent. */
export class RequestLog extends LogController {
  /** The line of the response has it all. */
  override incomingRequest(): void {}

  override requestCompleted(
    error: Error | null | undefined,
    request: FastifyRequest,
    reply: FastifyReply,
  ): void {
    const { reportedWindow, traceFields } = request;
    const isLimited = request.decision !== null || request.requiredRole !== null;
    const key = isLimited ? findKnownKey(request) : null;
    request.log.info(
      {
        requestId: request.id,
        ...traceFields,
        method: request.method,
        path: loggablePath(request),
        operation: operationName(request),
        status: reply.statusCode,
        code: request.failure?.code,
        message: request.failure === null ? undefined : withoutKeys(request.failure.message),
        durationMs: Math.round(reply.elapsedTime * 10) / 10,
        decision: isLimited ? decisionWord(request) : undefined,
        window: reportedWindow?.name,
        limit: reportedWindow?.limit,
        remaining: reportedWindow?.remaining,
        plan: key?.quota.plan,
        keyId: key?.keyId,
        quotaId: key?.quota.id,
        clientAddress: addressText(request.ip),
        userAgent: loggableUserAgent(request),
        ...(error && { err: error }),
      },
      'request',
    );
  }
}

/** Returns how the rate limiter decided on a request, in a word that docs/observing.md explains. */
export function decisionWord({
  decision,
  isShed,
  ownLimit,
}: Pick<FastifyRequest, 'decision' | 'isShed' | 'ownLimit'>): string {
  if (decision === null) {
    return isShed ? 'shed' : 'uncounted';
  }
  if (!decision.allowed) {
    return decision.ban === null ? 'denied' : 'banned';
  }
  if (ownLimit !== null) {
    return 'uncounted';
  }
  return decision.degraded ? 'degraded' : 'allowed';
}
