import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../http/routes/api-error.js';
import { usualMessages } from '../http/routes/catalogue.js';
import { ApiKeyStrategy, deniedCredential, invalidKey } from './api-key.strategy.js';
import type { AuthenticationResult, Principal } from './principal.js';

const NAME = 'authorization';
/** Matches a credential after another one, as a proxy may join two headers. */
const NEXT_CREDENTIAL = /, *[a-z]+ +[^ ]/i;
const SPACED_TOKEN = /^bearer +(?! )\S*\s/i;

/**
 * Runs `ApiKeyStrategy` as passport does. It denies nothing: `RateLimitGuard` counts a request without a
 * valid key first.
 */
@Injectable()
export class ApiKeyGuard implements CanActivate {
  constructor(private readonly strategy: ApiKeyStrategy) {}

  /** Returns no promise for a cached key. @throws the database's error if the key cannot be looked up. */
  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    if (request.requiredRole === null) {
      return true;
    }
    const { authorization: given = '' } = request.headers;
    const fault = findFault(request.raw, given);
    if (fault !== null) {
      request.authentication = { principal: null, denial: fault, deniedKey: null };
      return true;
    }
    const finished = new Promise<boolean>((resolve, reject) => {
      const success = (authentication: AuthenticationResult) => {
        request.authentication = authentication;
        if (authentication.principal) {
          addExpiry(http.getResponse(), authentication.principal);
          setBorrower(request, authentication.principal);
        }
        resolve(true);
      };
      const fail = (challenge: string) => {
        const headers = { 'WWW-Authenticate': challenge };
        const denial = new ApiError('missing_api_key', usualMessages.missing_api_key, { headers });
        success({ principal: null, denial, deniedKey: null });
      };
      const actions = { success, fail, error: reject };
      const strategy = Object.assign(Object.create(this.strategy) as ApiKeyStrategy, actions);
      // The strategy would fail with 400 for a header without two parts, and accept a key in query or body.
      const parts = given.split(/ +/);
      const authorization = parts.length === 2 ? parts.join(' ') : undefined;
      strategy.authenticate({ headers: { authorization } } as never);
    });
    return request.authentication === null ? finished : true;
  }
}

function findFault(request: FastifyRequest['raw'], authorization: string): ApiError | null {
  if (isRepeated(request) || NEXT_CREDENTIAL.test(authorization)) {
    const message = 'Send one Authorization header, with one API key.';
    return deniedCredential('invalid_request', message, { error: 'invalid_request' });
  }
  return SPACED_TOKEN.test(authorization)
    ? invalidKey('The API key is malformed; a bearer token has no spaces')
    : null;
}

/** Returns whether a request has several Authorization headers, of which `headers` has the first only. */
function isRepeated({ rawHeaders }: FastifyRequest['raw']): boolean {
  const isName = (text: string, index: number) =>
    index % 2 === 0 && text.length === NAME.length && text.toLowerCase() === NAME;
  return rawHeaders.filter(isName).length > 1;
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
