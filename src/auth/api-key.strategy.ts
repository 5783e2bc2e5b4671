import { Inject, Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import { Strategy } from 'passport-http-bearer';
import type { Client } from '../client.js';
import { Clock } from '../clock.js';
import { ENVIRONMENT, type Environment } from '../environment.js';
import { hashApiKey, keyFault } from './api-key.js';
import { KeyDirectory, type KnownKey } from './key-directory.js';

export const REALM = 'animal-store';

/** What a strategy's verification answers: the client, or none and the description for the challenge. */
export type Verification = [client: Client] | [client: false, description: string];

/** Bearer tokens (RFC 6750) that are API keys of this service. */
@Injectable()
export class ApiKeyStrategy extends PassportStrategy(Strategy, 'bearer') {
  constructor(
    private readonly keys: KeyDirectory,
    private readonly clock: Clock,
    @Inject(ENVIRONMENT) private readonly environment: Environment,
  ) {
    super({ realm: REALM });
  }

  /** @throws the database's error when the key cannot be looked up. */
  async validate(key: string): Promise<Verification> {
    const fault = keyFault(key, this.environment.APP_ENV);
    if (fault === 'malformed') {
      return [false, 'The API key is malformed; check that it was copied whole'];
    }
    if (fault === 'other_environment') {
      return [false, `The API key is for another environment; this is ${this.environment.APP_ENV}`];
    }
    const known = await this.keys.find(hashApiKey(key));
    return known === null ? [false, 'The API key is unknown'] : this.verify(known);
  }

  private verify({ client, revoked }: KnownKey): Verification {
    if (revoked) {
      return [false, 'The API key was revoked'];
    }
    if (client.expiresAt !== null && client.expiresAt.getTime() <= this.clock.now()) {
      return [false, 'The API key has expired'];
    }
    return [client];
  }
}
