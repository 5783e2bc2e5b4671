import { Inject, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Strategy } from 'passport-http-bearer';
import type { AuthenticationResult, Principal } from '../principal.js';
import { Clock } from '../clock.js';
import { ENVIRONMENT, type Environment } from '../environment.js';
import { ApiError } from '../errors/api-error.js';
import { hashApiKey, keyFault } from './api-key.js';
import { ApiKeyCache, type CachedApiKey } from './api-key-cache.js';

const REALM = 'animal-store';

type Verify = (
  key: string,
  done: (error: unknown, client?: Principal | false, fault?: string) => void,
) => void;

/** Bearer tokens (RFC 6750) that are API keys of this service. A key that is remembered is verified without a wait. */
class ApiKeyStrategy extends Strategy<Verify> {
  constructor(keys: ApiKeyCache, clock: Clock, environment: Environment['APP_ENV']) {
    super({ realm: REALM }, (key, done) => {
      const finish = (found: CachedApiKey | null) => {
        const fault = faultOf(found, clock.now());
        done(null, fault === null && found !== null ? found.client : false, fault ?? undefined);
      };
      const fault = keyFault(key, environment);
      if (fault === 'malformed') {
        done(null, false, 'The API key is malformed; check that it was copied whole');
      } else if (fault === 'other_environment') {
        done(null, false, `The API key is for another environment; this is ${environment}`);
      } else {
        const found = keys.find(hashApiKey(key));
        if (found instanceof Promise) {
          found.then(finish, done);
        } else {
          finish(found);
        }
      }
    });
  }
}

/** Why a key is none of a client, in words for the challenge; null where it is one. */
function faultOf(known: CachedApiKey | null, nowMs: number): string | null {
  if (known === null) {
    return 'The API key is unknown';
  }
  const { client, revoked } = known;
  if (revoked) {
    return 'The API key was revoked';
  }
  const isExpired = client.expiresAt !== null && client.expiresAt.getTime() <= nowMs;
  return isExpired ? 'The API key has expired' : null;
}

/** The part of a passport strategy that one authentication gives its own answers to. */
interface Attempt {
  success(client: Principal): void;
  fail(challenge: string | number): void;
  error(reason: unknown): void;
  authenticate(request: { headers: { authorization?: string | undefined } }): void;
}

@Injectable()
export class Authenticator {
  private readonly strategy: ApiKeyStrategy;

  constructor(
    private readonly keys: ApiKeyCache,
    clock: Clock,
    @Inject(ENVIRONMENT) private readonly environment: Pick<Environment, 'APP_ENV'>,
  ) {
    this.strategy = new ApiKeyStrategy(keys, clock, environment.APP_ENV);
  }

  /** The client whose key the request has, as it was last known. Only to tell its numbers: nobody gets in by it. */
  lastKnownPrincipal(request: FastifyRequest): Principal | null {
    const key = keyOf(request);
    return key === undefined ? null : this.keys.lastKnown(hashApiKey(key));
  }

  /** Whether the request has what may be a key of this environment. Needs no look-up. */
  hasPossibleKey(request: FastifyRequest): boolean {
    const key = keyOf(request);
    return key !== undefined && keyFault(key, this.environment.APP_ENV) === null;
  }

  /**
   * Tells whose key a header `Authorization` has. Runs the strategy as passport does, on an object of its own for each
   * request, but hands it the header alone: a token in the query or the body (RFC 6750, sections 2.2 and 2.3) is no
   * credential here.
   *
   * @throws the database's error when the key cannot be looked up.
   */
  identify(authorization: string | undefined): Promise<AuthenticationResult> {
    return new Promise((resolve, reject) => {
      const attempt = Object.create(this.strategy) as Attempt;
      attempt.success = (client) => resolve({ principal: client, refusal: null });
      attempt.fail = (challenge) =>
        resolve({ principal: null, refusal: refusalOf(challenge, authorization) });
      attempt.error = reject;
      // More than one space may stand between scheme and token (RFC 9110, section 11.4); the strategy wants one.
      attempt.authenticate({ headers: { authorization: authorization?.replace(/ +/, ' ') } });
    });
  }
}

function keyOf({ headers: { authorization = '' } }: FastifyRequest): string | undefined {
  return /^bearer +(\S+)$/i.exec(authorization)?.[1];
}

function refusalOf(challenge: string | number, authorization = ''): ApiError {
  if (typeof challenge === 'string') {
    const description = /error_description="(.*)"/.exec(challenge)?.[1];
    return description === undefined ? missing(challenge) : invalid(description, challenge);
  }
  // The strategy answers 400 for a header that has not two parts: `Bearer` alone, or a token with a space.
  const description = 'The API key is malformed; a bearer token has no spaces';
  return /^bearer .*\S/i.test(authorization)
    ? invalid(
        description,
        `Bearer realm="${REALM}", error="invalid_token", error_description="${description}"`,
      )
    : missing(`Bearer realm="${REALM}"`);
}

function missing(challenge: string): ApiError {
  const message = 'An API key is required. Send it in the header "Authorization: Bearer <API_KEY>".';
  return new ApiError('missing_api_key', message, { headers: { 'WWW-Authenticate': challenge } });
}

function invalid(description: string, challenge: string): ApiError {
  return new ApiError('invalid_api_key', `${description}.`, { headers: { 'WWW-Authenticate': challenge } });
}
