import { Module } from '@nestjs/common';
import { DeprecationModule } from '../deprecation/deprecation.module.js';
import { RateLimitModule } from '../rate-limit/rate-limit.module.js';
import { DatabaseHealth } from './database.health.js';
import { HealthController } from './health.controller.js';
import { Readiness } from './readiness.js';
import { ReplicaRegistry } from './replica-registry.js';
import { SequenceWatch } from './sequence-watch.js';

@Module({
  imports: [RateLimitModule, DeprecationModule],
  controllers: [HealthController],
  providers: [DatabaseHealth, Readiness, ReplicaRegistry, SequenceWatch],
})
export class HealthModule {}
