import { Module } from '@nestjs/common';
import { RateLimitModule } from '../rate-limit/rate-limit.module.js';
import { Authenticator } from './authenticator.js';
import { KeyDirectory } from './key-directory.js';
import { KeyWatch } from './key-watch.js';

@Module({
  imports: [RateLimitModule],
  providers: [KeyWatch, KeyDirectory, Authenticator],
  exports: [Authenticator, KeyDirectory, KeyWatch],
})
export class AuthModule {}
