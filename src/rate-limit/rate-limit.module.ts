import { Module } from '@nestjs/common';
import { ThrottlerModule } from '@nestjs/throttler';
import { Clock } from '../settings/clock.js';
import { ENVIRONMENT, type Environment } from '../settings/environment.js';
import { QueryRunner } from '../database/query-runner.js';
import { CounterCleanup } from './stores/counter-cleanup.js';
import { CounterStore } from './stores/counter-store.js';
import { FallbackCounterStore } from './stores/fallback-counter-store.js';
import { DocumentRateLimit } from './document-rate-limit.js';
import { PostgresCounterStore } from './stores/postgres-counter-store.js';
import { RateLimitController } from './rate-limit.controller.js';
import { RateLimiter } from './rate-limiter.js';

/** The store of `COUNTER_STORE`, else PostgreSQL. Without Redis its driver is not loaded. */
const counterStore = {
  provide: CounterStore,
  inject: [ENVIRONMENT, Clock, QueryRunner],
  useFactory: async (environment: Environment, clock: Clock, queries: QueryRunner): Promise<CounterStore> => {
    if (environment.COUNTER_STORE === undefined) {
      return new PostgresCounterStore(environment, clock, queries);
    }
    const { RedisCounterStore } = await import('./stores/redis-counter-store.js');
    return new RedisCounterStore(environment, clock);
  },
};

@Module({
  // No throttlers: the windows and their limits are those of each request's quota.
  imports: [ThrottlerModule.forRoot([])],
  controllers: [RateLimitController],
  providers: [counterStore, FallbackCounterStore, CounterCleanup, RateLimiter, DocumentRateLimit],
  exports: [RateLimiter, CounterStore, FallbackCounterStore],
})
export class RateLimitModule {}
