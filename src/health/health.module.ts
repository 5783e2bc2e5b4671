import { Module } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import { RateLimitModule } from '../rate-limit/rate-limit.module.js';
import { CounterStoreHealth } from './counter-store.health.js';
import { DatabaseHealth } from './database.health.js';
import { HealthController } from './health.controller.js';
import { ProbeController } from './probe.controller.js';
import { Readiness } from './readiness.js';

@Module({
  // `Readiness` logs what is down.
  imports: [TerminusModule.forRoot({ logger: false }), RateLimitModule],
  controllers: [ProbeController, HealthController],
  providers: [DatabaseHealth, CounterStoreHealth, Readiness],
})
export class HealthModule {}
