import { Inject, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Strategy } from 'passport-http-bearer';
import type { Principal } from './principal.js';
import { ENVIRONMENT, type Environment } from '../process/settings/environment.js';
import { findKeyProblem, hashApiKey } from './rules/api-key.js';
import { ApiKeyCache, type CachedApiKey } from './api-key-cache.js';

/** The realm of all challenges (RFC 9110, section 11.5). */
export const REALM = 'animal-store';

/** Receives the principal of a key, or false and the reason of the denial. */
type Done = (error: unknown, principal?: Principal | false, reason?: string) => void;

/**
 * Authenticates a bearer token (RFC 6750) as an API key. The `error_description` of a challenge is the reason
 * of the denial. A cached key is verified before `authenticate()` returns.
 */
@Injectable()
export class ApiKeyStrategy extends Strategy<(token: string, done: Done) => void> {
  constructor(
    private readonly keys: ApiKeyCache,
    @Inject(ENVIRONMENT) private readonly environment: Pick<Environment, 'APP_ENV'>,
  ) {
    super({ realm: REALM }, (token, done) => this.verify(token, done));
  }

  /**
   * Returns the last known principal of the request's key: only to report its limits, never to authenticate.
   */
  lastKnownPrincipal({ headers }: FastifyRequest): Principal | null {
    const [, key] = /^bearer +(\S+)$/i.exec(headers.authorization ?? '') ?? [];
    return key === undefined ? null : this.keys.lastKnown(hashApiKey(key));
  }

  private verify(token: string, done: Done): void {
    const problem = this.findProblem(token);
    if (problem !== null) {
      done(null, false, problem);
      return;
    }
    const found = this.keys.find(hashApiKey(token));
    if (found instanceof Promise) {
      // An error of `done` itself must not call it again.
      void found.then((key) => this.finish(key, done), done);
    } else {
      this.finish(found, done);
    }
  }

  /** Returns why a token cannot be a key of this environment, or null if it can. */
  private findProblem(token: string): string | null {
    if (/\s/.test(token)) {
      return 'The API key is malformed; a bearer token has no spaces';
    }
    const { APP_ENV } = this.environment;
    const problem = findKeyProblem(token, APP_ENV);
    if (problem === 'malformed') {
      return 'The API key is malformed; check that it was copied whole';
    }
    return problem && `The API key is for another environment; this is ${APP_ENV}`;
  }

  private finish(key: CachedApiKey | null, done: Done): void {
    if (key === null) {
      done(null, false, 'The API key is unknown');
    } else if (key.revoked) {
      done(null, false, 'The API key was revoked');
    } else if (
      key.principal.expiresAt !== null &&
      key.principal.expiresAt.getTime() <= this.keys.serverClock.now()
    ) {
      done(null, false, 'The API key has expired');
    } else {
      done(null, key.principal);
    }
  }
}
