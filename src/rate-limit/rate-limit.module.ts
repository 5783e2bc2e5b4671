import { Module } from '@nestjs/common';
import { ThrottlerModule } from '@nestjs/throttler';
import { ENVIRONMENT, type Environment } from '../process/settings/environment.js';
import { PrismaService } from '../database/access/prisma.service.js';
import { CounterCleanup } from './stores/counter-cleanup.js';
import { CounterStore } from './stores/counter-store.js';
import { FallbackCounterStore } from './stores/fallback-counter-store.js';
import { DocumentRateLimitHook } from './document-rate-limit.hook.js';
import { PostgresCounterStore } from './stores/postgres-counter-store.js';
import { RateLimitController } from './rate-limit.controller.js';
import { throttlerOptions } from './throttler-options.js';

/** The store of `COUNTER_STORE_URL`, else PostgreSQL. Without Redis its driver is not loaded. */
const counterStore = {
  provide: CounterStore,
  inject: [ENVIRONMENT, PrismaService],
  useFactory: async (environment: Environment, prisma: PrismaService): Promise<CounterStore> => {
    if (environment.COUNTER_STORE_URL === undefined) {
      return new PostgresCounterStore(environment, prisma);
    }
    const { RedisCounterStore } = await import('./stores/redis-counter-store.js');
    return new RedisCounterStore(environment);
  },
};

@Module({
  imports: [ThrottlerModule.forRootAsync({ inject: [ENVIRONMENT], useFactory: throttlerOptions })],
  controllers: [RateLimitController],
  providers: [counterStore, FallbackCounterStore, CounterCleanup, DocumentRateLimitHook],
  exports: [CounterStore, FallbackCounterStore],
})
export class RateLimitModule {}
