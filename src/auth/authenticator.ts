import { Inject, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Caller, Client } from '../client.js';
import { ENVIRONMENT, type Environment } from '../environment.js';
import { ApiError } from '../errors/api-error.js';
import { hashApiKey, keyFault } from './api-key.js';
import { ApiKeyStrategy, REALM } from './api-key.strategy.js';
import { KeyDirectory } from './key-directory.js';

/** The part of a passport strategy that one authentication gives its own answers to. */
interface Attempt {
  success(client: Client): void;
  fail(challenge: string | number): void;
  error(reason: unknown): void;
  authenticate(request: { headers: { authorization?: string | undefined } }): void;
}

@Injectable()
export class Authenticator {
  constructor(
    private readonly strategy: ApiKeyStrategy,
    private readonly keys: KeyDirectory,
    @Inject(ENVIRONMENT) private readonly environment: Pick<Environment, 'APP_ENV'>,
  ) {}

  /**
   * Tells who sends the request, once however often it is asked.
   *
   * @throws the database's error when the key cannot be looked up.
   */
  authenticate(request: FastifyRequest): Promise<Caller> {
    request.caller ??= this.identify(request.headers.authorization);
    return request.caller;
  }

  /** The client whose key the request has, as it was last known. Only to tell its numbers: nobody gets in by it. */
  lastKnownClient(request: FastifyRequest): Client | null {
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
  identify(authorization: string | undefined): Promise<Caller> {
    return new Promise((resolve, reject) => {
      const attempt = Object.create(this.strategy) as Attempt;
      attempt.success = (client) => resolve({ client, refusal: null });
      attempt.fail = (challenge) => resolve({ client: null, refusal: refusalOf(challenge, authorization) });
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
