import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { OrdersModule } from '../orders/orders.module.js';
import { PetsModule } from '../pets/pets.module.js';
import { RateLimitModule } from '../rate-limit/rate-limit.module.js';
import { UsageModule } from '../usage/usage.module.js';
import { WebhooksModule } from '../webhooks/webhooks.module.js';
import { RequestMetricsHook } from './request-metrics.hook.js';
import { MetricsServer } from './metrics.server.js';
import { ServiceMetrics } from './service-metrics.js';

@Module({
  imports: [AuthModule, RateLimitModule, PetsModule, OrdersModule, UsageModule, WebhooksModule],
  providers: [RequestMetricsHook, ServiceMetrics, MetricsServer],
  exports: [RequestMetricsHook],
})
export class MetricsModule {}
