import { Inject, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Strategy } from 'passport-http-bearer';
import type { AuthenticationResult, KnownKey, Principal } from './principal.js';
import { ENVIRONMENT, type Environment } from '../process/settings/environment.js';
import { ApiError } from '../http/routes/api-error.js';
import { findKeyProblem, hashApiKey } from './rules/api-key.js';
import { ApiKeyCache, type CachedApiKey } from './api-key-cache.js';
import { findInvalidity } from './key-validity.js';
import { DatabaseClock } from '../database/access/database-clock.js';

type Done = (error: unknown, result?: AuthenticationResult) => void;

const REALM = 'animal-store';
/** Why a key that is known is not valid. */
const DENIALS = {
  revoked: 'was revoked',
  expired: 'has expired',
  suspended: 'is suspended; ask an administrator to resume it',
};

/** Returns the error of a credential, with a challenge (RFC 6750, section 3). */
export function deniedCredential(
  code: ConstructorParameters<typeof ApiError>[0],
  message: string,
  parameters: Record<string, string>,
): ApiError {
  const texts = Object.entries({ realm: REALM, ...parameters }).map(([name, value]) => `${name}="${value}"`);
  return new ApiError(code, message, { headers: { 'WWW-Authenticate': `Bearer ${texts.join(', ')}` } });
}

export function invalidKey(reason: string): ApiError {
  const parameters = { error: 'invalid_token', error_description: reason };
  return deniedCredential('invalid_api_key', `${reason}.`, parameters);
}

/**
 * Authenticates a bearer token (RFC 6750) as an API key; if that is cached, before `authenticate()` returns.
 * A denial is a success too, because it is for later steps.
 */
@Injectable()
export class ApiKeyStrategy extends Strategy<(token: string, done: Done) => void> {
  constructor(
    private readonly keys: ApiKeyCache,
    private readonly clock: DatabaseClock,
    @Inject(ENVIRONMENT) private readonly environment: Pick<Environment, 'APP_ENV'>,
  ) {
    super({ realm: REALM }, (token, done) => this.verify(token, done));
  }

  /** Returns `request.lastKnownPrincipal`: null for a key that was denied, which has no part in its quota. */
  lastKnownPrincipal({ headers }: FastifyRequest): Principal | null {
    const [, key] = /^bearer +(\S+)$/i.exec(headers.authorization ?? '') ?? [];
    const known = key === undefined ? null : this.keys.lastKnown(hashApiKey(key));
    return known !== null && this.invalidityOf(known) === null ? known.principal : null;
  }

  private verify(token: string, done: Done): void {
    const problem = this.findProblem(token);
    if (problem !== null) {
      done(null, deny(problem));
      return;
    }
    const found = this.keys.find(hashApiKey(token));
    const finish = (key: CachedApiKey | null) => done(null, this.judge(key));
    if (found instanceof Promise) {
      // An error of `done` itself must not call it again.
      void found.then(finish, done);
    } else {
      finish(found);
    }
  }

  private findProblem(token: string): string | null {
    const { APP_ENV } = this.environment;
    const problem = findKeyProblem(token, APP_ENV);
    if (problem === 'malformed') {
      return 'The API key is malformed; check that it was copied whole';
    }
    return problem && `The API key is for another environment; this is ${APP_ENV}`;
  }

  private judge(key: CachedApiKey | null): AuthenticationResult {
    if (key === null) {
      return deny('The API key is unknown');
    }
    const { principal } = key;
    const reason = this.invalidityOf(key);
    if (reason === null) {
      return { principal, denial: null };
    }
    const { keyId, quota } = principal;
    return deny(`The API key ${DENIALS[reason]}`, { keyId, quota: { id: quota.id } });
  }

  private invalidityOf({ principal, revoked, suspended }: CachedApiKey) {
    return findInvalidity(revoked, suspended, principal.expiresAt, this.clock.now());
  }
}

function deny(reason: string, deniedKey: KnownKey | null = null): AuthenticationResult {
  return { principal: null, denial: invalidKey(reason), deniedKey };
}
