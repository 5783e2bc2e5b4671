import { type FastifyReply, type FastifyRequest, LogController } from 'fastify';
import { operationName } from '../http/routes/request-line.js';
import type { Principal } from '../auth/principal.js';
import { addressText } from '../http/rules/network.js';

/** Matches a key without its first letter, which may be percent-encoded. */
const API_KEY = /sk_(live|test)_[0-9A-Za-z]+/g;
/** Matches a letter, digit or underscore that is percent-encoded, once or several times. */
const ENCODED = /%(?:25)*(3\d|[46][1-9a-f]|[57][\da]|5f)/gi;
const CONTROLS = /\p{Cc}/gu;
/** Few texts match; all others are logged unchanged. */
const SUSPECT = /[^\x20-\x7e]|sk_|%/;

/** No path of this service is longer; the rest would only fill the disk. */
const MAX_LENGTH = 256;

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
    const principal = isLimited ? findPrincipal(request) : null;
    request.log.info(
      {
        requestId: request.id,
        ...traceFields,
        method: request.method,
        path: loggablePath(request),
        operation: operationName(request),
        status: reply.statusCode,
        durationMs: Math.round(reply.elapsedTime * 10) / 10,
        decision: isLimited ? decisionWord(request) : undefined,
        window: reportedWindow?.name,
        limit: reportedWindow?.limit,
        remaining: reportedWindow?.remaining,
        plan: principal?.quota.plan,
        keyId: principal?.keyId,
        quotaId: principal?.quota.id,
        clientAddress: addressText(request.ip),
        userAgent: loggableUserAgent(request),
        ...(error && { err: error }),
      },
      'request',
    );
  }
}

/** Returns whose key the request has: as authenticated, or as last known if it was denied before. */
function findPrincipal(request: FastifyRequest): Principal | null {
  return request.authentication === null ? request.lastKnownPrincipal : request.authentication.principal;
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

/** Returns the requested path, cut, without the query and keys. */
export function loggablePath({ originalUrl }: Pick<FastifyRequest, 'originalUrl'>): string {
  const end = originalUrl.indexOf('?');
  const path = withoutKeys(end === -1 ? originalUrl : originalUrl.slice(0, end));
  return path.length > MAX_LENGTH ? `${path.slice(0, MAX_LENGTH)}…` : path;
}

/** Returns the header `User-Agent`, cut, without control characters and keys; undefined if there is none. */
export function loggableUserAgent({ headers }: Pick<FastifyRequest, 'headers'>): string | undefined {
  const userAgent = headers['user-agent']?.slice(0, MAX_LENGTH);
  // Keys last: a control character between its letters would hide one.
  return userAgent !== undefined && SUSPECT.test(userAgent)
    ? withoutKeys(userAgent.replace(CONTROLS, ''))
    : userAgent;
}

/** Returns a text without the keys in it, some of whose letters may be percent-encoded. */
export function withoutKeys(text: string): string {
  const plain = text.includes('%') ? text.replace(ENCODED, (_match, code) => decodeURI(`%${code}`)) : text;
  return plain.includes('sk_') && plain.search(API_KEY) >= 0 ? plain.replace(API_KEY, 'sk_$1_…') : text;
}
