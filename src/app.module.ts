import { type DynamicModule, Module } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_PIPE } from '@nestjs/core';
import { AdminModule } from './admin/admin.module.js';
import { AppFilter } from './app.filter.js';
import { AppHooks } from './app.hooks.js';
import { ApiKeyGuard } from './auth/api-key.guard.js';
import { AuthModule } from './auth/auth.module.js';
import { RoleGuard } from './auth/role.guard.js';
import type { Clock } from './clock.js';
import { DatabaseModule } from './database/database.module.js';
import { LifecycleGuard } from './deprecation/lifecycle.guard.js';
import type { Environment } from './environment.js';
import { ValidationPipe } from './http/validation.pipe.js';
import { IdempotencyModule } from './idempotency/idempotency.module.js';
import { MetricsModule } from './metrics/metrics.module.js';
import { OperationsModule } from './operations/operations.module.js';
import { OrdersModule } from './orders/orders.module.js';
import { PetsModule } from './pets/pets.module.js';
import { RateLimitGuard } from './rate-limit/rate-limit.guard.js';
import { RateLimitModule } from './rate-limit/rate-limit.module.js';
import { SettingsModule } from './settings.module.js';
import { UsageModule } from './usage/usage.module.js';

/** The whole service. The providers stand in the order in which a request passes them. */
@Module({
  imports: [
    DatabaseModule,
    AuthModule,
    RateLimitModule,
    IdempotencyModule,
    PetsModule,
    OrdersModule,
    AdminModule,
    UsageModule,
    OperationsModule,
    MetricsModule,
  ],
  providers: [
    // Around all that follow.
    AppHooks,
    { provide: APP_GUARD, useClass: ApiKeyGuard },
    { provide: APP_GUARD, useClass: RateLimitGuard },
    { provide: APP_GUARD, useClass: RoleGuard },
    { provide: APP_GUARD, useClass: LifecycleGuard },
    { provide: APP_PIPE, useClass: ValidationPipe },
    // Whatever is thrown on the way, and what never came so far, is answered here.
    AppFilter,
    { provide: APP_FILTER, useExisting: AppFilter },
  ],
})
export class AppModule {
  static register(environment: Environment, clock: Clock): DynamicModule {
    return { module: AppModule, imports: [SettingsModule.register(environment, clock)] };
  }
}
