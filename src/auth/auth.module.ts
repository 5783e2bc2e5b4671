import { Module } from '@nestjs/common';
import { RateLimitModule } from '../rate-limit/rate-limit.module.js';
import { Authenticator } from './authenticator.js';
import { ApiKeyCache } from './api-key-cache.js';
import { ApiKeyChangeListener } from './api-key-change-listener.js';

@Module({
  imports: [RateLimitModule],
  providers: [ApiKeyChangeListener, ApiKeyCache, Authenticator],
  exports: [Authenticator, ApiKeyCache, ApiKeyChangeListener],
})
export class AuthModule {}
