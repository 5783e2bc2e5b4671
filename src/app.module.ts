import { type DynamicModule, Module } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_PIPE } from '@nestjs/core';
import { AccountModule } from './keys/account/account.module.js';
import { AuditModule } from './audit/audit.module.js';
import { KeysModule } from './keys/keys.module.js';
import { WebhookDeliveryModule } from './webhooks/webhook-delivery.module.js';
import { ErrorFilter } from './http/routes/error.filter.js';
import { LargeBodyHook } from './http/responses/large-body.hook.js';
import { HttpModule } from './http/http.module.js';
import { RoutesModule } from './http/routes/routes.module.js';
import { ApiKeyGuard } from './auth/api-key.guard.js';
import { AuthModule } from './auth/auth.module.js';
import { PermissionGuard } from './auth/permission.guard.js';
import type { Clock } from './process/clock.js';
import { DatabaseModule } from './database/database.module.js';
import type { Environment } from './process/settings/environment.js';
import { RevalidationHook } from './http/responses/revalidation.hook.js';
import { ConcurrencyLimit } from './http/connections/concurrency-limit.js';
import { RequestMetricsHook } from './observability/request-metrics.hook.js';
import { FailedRequestRecorder } from './usage/failed-requests/failed-request.recorder.js';
import { UsageRecorder } from './usage/usage.recorder.js';
import { ValidationPipe } from './http/routes/validation.pipe.js';
import { IdempotencyModule } from './idempotency/idempotency.module.js';
import { ObservabilityModule } from './observability/observability.module.js';
import { OrdersModule } from './orders/orders.module.js';
import { PetsModule } from './pets/pets.module.js';
import { RateLimitHeadersHook } from './rate-limit/rate-limit-headers.hook.js';
import { RateLimitGuard } from './rate-limit/rate-limit.guard.js';
import { BanIndexing } from './rate-limit/stores/ban-indexing.js';
import { RateLimitModule } from './rate-limit/rate-limit.module.js';
import type { Connections } from './http/connections/connections.js';
import { SettingsModule } from './process/settings/settings.module.js';
import { UsageModule } from './usage/usage.module.js';
import { WebhooksModule } from './webhooks/webhooks.module.js';

/** The steps of every response, errors included, in this order. Those of single routes follow. */
export const RESPONSE_HOOKS = [
  ConcurrencyLimit,
  RevalidationHook,
  RateLimitHeadersHook,
  UsageRecorder,
  FailedRequestRecorder,
  RequestMetricsHook,
  LargeBodyHook,
];

/** The whole service. A request passes the hooks of `app.ts`, then these steps, then `RESPONSE_HOOKS`. */
@Module({
  imports: [
    DatabaseModule,
    AuthModule,
    // The documents have the operations in this order:
    PetsModule,
    OrdersModule,
    RateLimitModule,
    IdempotencyModule,
    KeysModule,
    AccountModule,
    UsageModule,
    AuditModule,
    WebhooksModule,
    WebhookDeliveryModule,
    ObservabilityModule,
  ],
  providers: [
    // 401, 429, 403; behind them, 410 by `@Deprecated()`, and 404 of an experimental `@Operation()`:
    { provide: APP_GUARD, useClass: ApiKeyGuard },
    { provide: APP_GUARD, useClass: RateLimitGuard },
    { provide: APP_GUARD, useClass: PermissionGuard },
    // 415, 400:
    { provide: APP_PIPE, useClass: ValidationPipe },
    // Then the handler of a controller, which is `NotFoundController` without a route.
    // The errors of all steps:
    { provide: APP_FILTER, useClass: ErrorFilter },
    // A step of responses that no other module provides:
    RateLimitHeadersHook,
    // In the service only; not for a command of the terminal.
    BanIndexing,
  ],
})
export class AppModule {
  static register(environment: Environment, clock: Clock, connections: Connections): DynamicModule {
    return {
      module: AppModule,
      imports: [
        SettingsModule.register(environment, clock),
        RoutesModule.register(AppModule),
        HttpModule.register(connections),
      ],
    };
  }
}
