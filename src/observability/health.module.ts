import { Module } from '@nestjs/common';
import { RateLimitModule } from '../rate-limit/rate-limit.module.js';
import { DatabaseHealth } from './database.health.js';
import { HealthController } from './health.controller.js';
import { Readiness } from './readiness.js';

@Module({
  imports: [RateLimitModule],
  controllers: [HealthController],
  providers: [DatabaseHealth, Readiness],
})
export class HealthModule {}
