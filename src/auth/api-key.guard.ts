import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../http/routes/api-error.js';
import type { Principal } from './principal.js';
import { ApiKeyStrategy, REALM } from './api-key.strategy.js';

const MISSING = 'An API key is required. Send it in the header "Authorization: Bearer <API_KEY>".';
const REPEATED = new ApiError('invalid_request', 'Send one Authorization header, with one API key.', {
  // RFC 6750, section 3.1.
  headers: { 'WWW-Authenticate': `Bearer realm="${REALM}", error="invalid_request"` },
});
const NAME = 'authorization';
/** Matches a credential after another one, as a proxy may join two headers. */
const NEXT_CREDENTIAL = /, *[a-z]+ +[^ ]/i;

/**
 * Runs `ApiKeyStrategy` as passport does. It denies nothing: `RateLimitGuard` counts a request without a
 * valid key first.
 */
@Injectable()
export class ApiKeyGuard implements CanActivate {
  constructor(private readonly strategy: ApiKeyStrategy) {}

  /**
   * Returns no promise for a cached key.
   *
   * @throws the database's error when the key cannot be looked up.
   */
  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    if (request.requiredRole === null) {
      return true;
    }
    const { authorization: given } = request.headers;
    if (given !== undefined && (isRepeated(request.raw) || NEXT_CREDENTIAL.test(given))) {
      request.authentication = { principal: null, denial: REPEATED };
      return true;
    }
    const finished = new Promise<boolean>((resolve, reject) => {
      const actions = {
        success: (principal: Principal) => {
          addExpiry(http.getResponse(), principal);
          request.authentication = { principal, denial: null };
          setBorrower(request, principal);
          resolve(true);
        },
        fail: (challenge: string) => {
          request.authentication = { principal: null, denial: toError(challenge) };
          resolve(true);
        },
        error: reject,
      };
      const strategy = Object.assign(Object.create(this.strategy) as ApiKeyStrategy, actions);
      // The strategy would also accept a key in the query or the body; this service does not.
      const authorization = inTwoParts(given);
      strategy.authenticate({ headers: { authorization } } as never);
    });
    return request.authentication === null ? finished : true;
  }
}

/**
 * Returns the header as scheme and token, because the strategy fails with 400 for any other number of parts.
 * Spaces in a token become tabs.
 */
function inTwoParts(authorization = ''): string {
  const [scheme, ...words] = authorization.split(' ');
  return `${scheme} ${words.filter((word) => word !== '').join('\t')}`;
}

/** Returns whether a request has several Authorization headers, of which `headers` has the first only. */
function isRepeated({ rawHeaders }: FastifyRequest['raw']): boolean {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    if (name.length === NAME.length && name.toLowerCase() === NAME) {
      count += 1;
    }
  }
  return count > 1;
}

function addExpiry(reply: FastifyReply, { expiresAt }: Principal): void {
  if (expiresAt !== null) {
    reply.header('X-Api-Key-Expires', expiresAt.toUTCString());
  }
}

/** Sets for whom the request borrows connections: the changes of administrators may use every one. */
function setBorrower({ requiredRole, method, statements }: FastifyRequest, { quota }: Principal): void {
  if (requiredRole === 'client') {
    statements!.borrower = { kind: 'client', owner: quota.id };
  } else if (method === 'GET' || method === 'HEAD') {
    statements!.borrower = { kind: 'reader' };
  }
}

/** Returns the error of a request with this challenge, which has a description if there was a token. */
function toError(challenge: string): ApiError {
  const headers = { 'WWW-Authenticate': challenge };
  const [, description] = /error_description="(.*)"/.exec(challenge) ?? [];
  return description === undefined
    ? new ApiError('missing_api_key', MISSING, { headers })
    : new ApiError('invalid_api_key', `${description}.`, { headers });
}
