import { Global, Module } from '@nestjs/common';
import { IdempotencyCleanup } from './idempotency.cleanup.js';
import { IdempotencyService } from './idempotency.service.js';
import { IdempotencyStore } from './idempotency.store.js';

@Global()
@Module({
  providers: [IdempotencyStore, IdempotencyCleanup, IdempotencyService],
  exports: [IdempotencyService, IdempotencyStore],
})
export class IdempotencyModule {}
