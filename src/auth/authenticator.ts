import { Inject, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Strategy } from 'passport-http-bearer';
import type { AuthenticationResult, Principal } from '../http/principal.js';
import { Clock } from '../settings/clock.js';
import { ENVIRONMENT, type Environment } from '../settings/environment.js';
import { ApiError } from '../errors/api-error.js';
import { hashApiKey, keyFault } from './rules/api-key.js';
import { ApiKeyCache, type CachedApiKey } from './api-key-cache.js';

const REALM = 'animal-store';

type Done = (error: unknown, principal?: Principal | false, fault?: string) => void;

/** The part of a passport strategy that each authentication sets for itself. */
interface Attempt {
  success(principal: Principal): void;
  fail(challenge: string | number): void;
  error(reason: unknown): void;
  authenticate(request: { headers: { authorization?: string | undefined } }): void;
}

/** Authenticates bearer tokens (RFC 6750) that are API keys of this service. */
@Injectable()
export class Authenticator {
  private readonly strategy = new Strategy<(key: string, done: Done) => void>({ realm: REALM }, (key, done) =>
    this.verify(key, done),
  );

  constructor(
    private readonly keys: ApiKeyCache,
    private readonly clock: Clock,
    @Inject(ENVIRONMENT) private readonly environment: Pick<Environment, 'APP_ENV'>,
  ) {}

  /** Returns the last known principal of the request's key: only to report its limits, never to authenticate. */
  lastKnownPrincipal(request: FastifyRequest): Principal | null {
    const key = keyOf(request);
    return key === undefined ? null : this.keys.lastKnown(hashApiKey(key));
  }

  /**
   * Returns whose key a header `Authorization` has. Runs the strategy as passport does, on an object of its own for each request, but
   * passes only the header: a token in the query or the body (RFC 6750, sections 2.2 and 2.3) is no credential here.
   *
   * @throws the database's error when the key cannot be looked up.
   */
  authenticate(authorization: string | undefined): Promise<AuthenticationResult> {
    return new Promise((resolve, reject) => {
      const attempt = Object.create(this.strategy) as Attempt;
      attempt.success = (principal) => resolve({ principal, denial: null });
      attempt.fail = (challenge) => resolve({ principal: null, denial: denialOf(challenge, authorization) });
      attempt.error = reject;
      // More than one space may stand between scheme and token (RFC 9110, section 11.4), but the strategy expects one.
      attempt.authenticate({ headers: { authorization: authorization?.replace(/ +/, ' ') } });
    });
  }

  /** Calls `done` at once for a cached key. */
  private verify(key: string, done: Done): void {
    const { APP_ENV } = this.environment;
    const finish = (found: CachedApiKey | null) => {
      const fault = faultOf(found, this.clock.now());
      done(null, fault === null && found !== null ? found.principal : false, fault ?? undefined);
    };
    const fault = keyFault(key, APP_ENV);
    if (fault === 'malformed') {
      done(null, false, 'The API key is malformed; check that it was copied whole');
    } else if (fault === 'other_environment') {
      done(null, false, `The API key is for another environment; this is ${APP_ENV}`);
    } else {
      const found = this.keys.find(hashApiKey(key));
      if (found instanceof Promise) {
        found.then(finish, done);
      } else {
        finish(found);
      }
    }
  }
}

/** Returns why a key is not valid, for the challenge, or null for a valid one. */
function faultOf(found: CachedApiKey | null, nowMs: number): string | null {
  if (found === null) {
    return 'The API key is unknown';
  }
  if (found.revoked) {
    return 'The API key was revoked';
  }
  const { expiresAt } = found.principal;
  return expiresAt !== null && expiresAt.getTime() <= nowMs ? 'The API key has expired' : null;
}

function keyOf({ headers: { authorization = '' } }: FastifyRequest): string | undefined {
  return /^bearer +(\S+)$/i.exec(authorization)?.[1];
}

/** @param challenge of the strategy; 400 for a header without exactly two parts: `Bearer` alone, or a token with a space. */
function denialOf(challenge: string | number, authorization = ''): ApiError {
  const withSpaces = /^bearer .*\S/i.test(authorization)
    ? 'The API key is malformed; a bearer token has no spaces'
    : undefined;
  const fault = typeof challenge === 'number' ? withSpaces : /error_description="(.*)"/.exec(challenge)?.[1];
  if (fault === undefined) {
    const message = 'An API key is required. Send it in the header "Authorization: Bearer <API_KEY>".';
    const headers = { 'WWW-Authenticate': `Bearer realm="${REALM}"` };
    return new ApiError('missing_api_key', message, { headers });
  }
  const headers = {
    'WWW-Authenticate': `Bearer realm="${REALM}", error="invalid_token", error_description="${fault}"`,
  };
  return new ApiError('invalid_api_key', `${fault}.`, { headers });
}
