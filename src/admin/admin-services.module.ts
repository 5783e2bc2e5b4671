import { Module } from '@nestjs/common';
import { RateLimitModule } from '../rate-limit/rate-limit.module.js';
import { AuditService } from './audit.service.js';
import { KeyService } from './key.service.js';
import { PlanService } from './plan.service.js';

/** What administrators do: one set of services, for HTTP and for the terminal. */
@Module({
  imports: [RateLimitModule],
  providers: [KeyService, PlanService, AuditService],
  exports: [KeyService, PlanService, AuditService],
})
export class AdminServicesModule {}
