import { Module } from '@nestjs/common';
import { ThrottlerModule } from '@nestjs/throttler';
import { CounterStore } from './counter-store.js';
import { DegradingCounterStore, SHARED_COUNTER_STORE } from './degrading-counter-store.js';
import { PostgresCounterStore } from './postgres-counter-store.js';
import { RateLimitController } from './rate-limit.controller.js';
import { RateLimiter } from './rate-limiter.js';

@Module({
  // One throttler stands for both windows. Its numbers are not used: the quota of each request has its own.
  imports: [ThrottlerModule.forRoot([{ limit: 0, ttl: 0 }])],
  controllers: [RateLimitController],
  providers: [
    { provide: SHARED_COUNTER_STORE, useClass: PostgresCounterStore },
    DegradingCounterStore,
    { provide: CounterStore, useExisting: DegradingCounterStore },
    RateLimiter,
  ],
  exports: [RateLimiter, CounterStore],
})
export class RateLimitModule {}
