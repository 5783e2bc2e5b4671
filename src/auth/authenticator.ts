import { Inject, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Strategy } from 'passport-http-bearer';
import type { AuthenticationResult, Principal } from '../http/principal.js';
import { ENVIRONMENT, type Environment } from '../settings/environment.js';
import { ApiError } from '../errors/api-error.js';
import { hashApiKey, type KeyProblem, findKeyProblem } from './rules/api-key.js';
import { ApiKeyCache, type CachedApiKey } from './api-key-cache.js';

/** RFC 6750, section 3. */
export const CHALLENGE = 'Bearer realm="animal-store"';

/** What the strategy reads, and the token that it finds. */
interface BearerRequest {
  headers: { authorization: string | undefined };
  token: string | null;
}

/**
 * Finds the bearer token (RFC 6750) of a request. It has the header only: a token in the query or the body (sections 2.2 and 2.3) is no
 * credential here. The key is looked up after it, so passport's callbacks, which would need a strategy for each request, do nothing.
 */
class BearerToken extends Strategy<(request: object, token: string) => void> {
  constructor() {
    super({ passReqToCallback: true }, (request, token) => Object.assign(request, { token }));
  }

  fail(): void {}

  /** Returns null without a token, or with a malformed one. */
  find(authorization: string | undefined): string | null {
    // More than one space may stand between scheme and token (RFC 9110, section 11.4), but the strategy expects one.
    const request: BearerRequest = {
      headers: { authorization: authorization?.replace(/ +/, ' ') },
      token: null,
    };
    this.authenticate(request as never);
    return request.token;
  }
}

/** Authenticates requests by the API key in their header `Authorization`. */
@Injectable()
export class Authenticator {
  private readonly bearerToken = new BearerToken();

  constructor(
    private readonly keys: ApiKeyCache,
    @Inject(ENVIRONMENT) private readonly environment: Pick<Environment, 'APP_ENV'>,
  ) {}

  /** Returns the last known principal of the request's key: only to report its limits, never to authenticate. */
  lastKnownPrincipal({ headers }: FastifyRequest): Principal | null {
    const key = this.bearerToken.find(headers.authorization);
    return key === null ? null : this.keys.lastKnown(hashApiKey(key));
  }

  /**
   * Returns the principal of a key, or why there is none. Returns no promise for a cached key.
   *
   * @throws the database's error when the key cannot be looked up.
   */
  authenticate(authorization: string | undefined): AuthenticationResult | Promise<AuthenticationResult> {
    const key = this.bearerToken.find(authorization);
    if (key === null) {
      return denied(
        isMalformed(authorization)
          ? invalid('The API key is malformed; a bearer token has no spaces')
          : missing(),
      );
    }
    const { APP_ENV } = this.environment;
    const problem = findKeyProblem(key, APP_ENV);
    if (problem !== null) {
      return denied(invalid(problemText(problem, APP_ENV)));
    }
    const found = this.keys.find(hashApiKey(key));
    return found instanceof Promise ? found.then((row) => this.toResult(row)) : this.toResult(found);
  }

  private toResult(key: CachedApiKey | null): AuthenticationResult {
    if (key === null) {
      return denied(invalid('The API key is unknown'));
    }
    if (key.revoked) {
      return denied(invalid('The API key was revoked'));
    }
    const { principal } = key;
    if (principal.expiresAt !== null && principal.expiresAt.getTime() <= this.keys.serverClock.now()) {
      return denied(invalid('The API key has expired'));
    }
    return { principal, denial: null };
  }
}

function denied(denial: ApiError): AuthenticationResult {
  return { principal: null, denial };
}

function missing(): ApiError {
  const message = 'An API key is required. Send it in the header "Authorization: Bearer <API_KEY>".';
  return new ApiError('missing_api_key', message, { headers: { 'WWW-Authenticate': CHALLENGE } });
}

function invalid(description: string): ApiError {
  const challenge = `${CHALLENGE}, error="invalid_token", error_description="${description}"`;
  return new ApiError('invalid_api_key', `${description}.`, { headers: { 'WWW-Authenticate': challenge } });
}

function problemText(problem: KeyProblem, environment: Environment['APP_ENV']): string {
  return problem === 'malformed'
    ? 'The API key is malformed; check that it was copied whole'
    : `The API key is for another environment; this is ${environment}`;
}

/** Returns whether a header without a token has a text after the scheme all the same. */
function isMalformed(authorization = ''): boolean {
  return /^bearer .*\S/i.test(authorization);
}
