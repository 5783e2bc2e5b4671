import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { DeprecationModule } from '../deprecation/deprecation.module.js';
import { RateLimitModule } from '../rate-limit/rate-limit.module.js';
import { DatabaseHealth } from './database.health.js';
import { HealthController } from './health.controller.js';
import { MetricsServer } from './metrics.server.js';
import { Readiness } from './readiness.js';
import { ReplicaRegistry } from './replica-registry.js';
import { RequestMetricsHook } from './request-metrics.hook.js';
import { SequenceWatch } from './sequence-watch.js';

@Module({
  imports: [DiscoveryModule, RateLimitModule, DeprecationModule],
  controllers: [HealthController],
  providers: [DatabaseHealth, Readiness, ReplicaRegistry, SequenceWatch, RequestMetricsHook, MetricsServer],
  exports: [RequestMetricsHook],
})
export class ObservabilityModule {}
