import { Module } from '@nestjs/common';
import { ApiKeyCache } from './api-key-cache.js';
import { ApiKeyChangeListener } from './api-key-change-listener.js';
import { ApiKeyStrategy } from './api-key.strategy.js';

@Module({
  providers: [ApiKeyChangeListener, ApiKeyCache, ApiKeyStrategy],
  exports: [ApiKeyStrategy, ApiKeyCache, ApiKeyChangeListener],
})
export class AuthModule {}
