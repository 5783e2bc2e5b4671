import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { MetricsServer } from './metrics.server.js';
import { RequestMetricsHook } from './request-metrics.hook.js';

@Module({
  imports: [DiscoveryModule],
  providers: [RequestMetricsHook, MetricsServer],
  exports: [RequestMetricsHook],
})
export class MetricsModule {}
