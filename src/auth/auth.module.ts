import { Module } from '@nestjs/common';
import { RateLimitModule } from '../rate-limit/rate-limit.module.js';
import { ApiKeyStrategy } from './api-key.strategy.js';
import { Authenticator } from './authenticator.js';
import { Gate } from './gate.js';
import { KeyDirectory } from './key-directory.js';
import { KeyWatch } from './key-watch.js';

@Module({
  imports: [RateLimitModule],
  providers: [KeyWatch, KeyDirectory, ApiKeyStrategy, Authenticator, Gate],
  exports: [Authenticator, Gate, KeyDirectory, KeyWatch],
})
export class AuthModule {}
