import { Module } from '@nestjs/common';
import { RateLimitModule } from '../rate-limit/rate-limit.module.js';
import { UsageModule } from '../usage/usage.module.js';
import { AuditService } from './audit.service.js';
import { KeyListing } from './key-listing.service.js';
import { KeyLookup } from './key-lookup.service.js';
import { KeyRateLimit } from './key-rate-limit.service.js';
import { KeyService } from './key.service.js';
import { PlanService } from './plan.service.js';
import { UsageService } from './usage.service.js';

/** The services of administration, shared by HTTP and the terminal. */
@Module({
  imports: [RateLimitModule, UsageModule],
  providers: [KeyService, KeyListing, KeyLookup, KeyRateLimit, PlanService, UsageService, AuditService],
  exports: [KeyService, KeyListing, KeyLookup, KeyRateLimit, PlanService, UsageService, AuditService],
})
export class AdminServicesModule {}
