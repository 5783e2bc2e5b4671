import { Inject, Injectable } from '@nestjs/common';
import { Strategy } from 'passport-http-bearer';
import type { Client } from '../client.js';
import { Clock } from '../clock.js';
import { ENVIRONMENT, type Environment } from '../environment.js';
import { hashApiKey, keyFault } from './api-key.js';
import { KeyDirectory, type KnownKey } from './key-directory.js';

export const REALM = 'animal-store';

type Verify = (key: string, done: (error: unknown, client?: Client | false, fault?: string) => void) => void;

/** What a look-up comes to: the client, or why the key is none of one, in words for the challenge. */
type Finding = { client: Client } | { fault: string };

/** Bearer tokens (RFC 6750) that are API keys of this service. A key that is remembered is verified without a wait. */
@Injectable()
export class ApiKeyStrategy extends Strategy<Verify> {
  constructor(keys: KeyDirectory, clock: Clock, @Inject(ENVIRONMENT) { APP_ENV }: Environment) {
    super({ realm: REALM }, (key, done) => {
      const answer = (found: KnownKey | null) => {
        const finding = judge(found, clock.now());
        if ('client' in finding) {
          done(null, finding.client);
        } else {
          done(null, false, finding.fault);
        }
      };
      const fail = (error: unknown) => done(error);
      const fault = keyFault(key, APP_ENV);
      if (fault === 'malformed') {
        done(null, false, 'The API key is malformed; check that it was copied whole');
      } else if (fault === 'other_environment') {
        done(null, false, `The API key is for another environment; this is ${APP_ENV}`);
      } else {
        const found = keys.find(hashApiKey(key));
        if (found instanceof Promise) {
          found.then(answer, fail);
        } else {
          answer(found);
        }
      }
    });
  }
}

function judge(known: KnownKey | null, nowMs: number): Finding {
  if (known === null) {
    return { fault: 'The API key is unknown' };
  }
  const { client, revoked } = known;
  if (revoked) {
    return { fault: 'The API key was revoked' };
  }
  if (client.expiresAt !== null && client.expiresAt.getTime() <= nowMs) {
    return { fault: 'The API key has expired' };
  }
  return { client };
}
