import { Module } from '@nestjs/common';
import { RateLimitModule } from '../rate-limit/rate-limit.module.js';
import { UsageModule } from '../usage/usage.module.js';
import { AuditService } from '../audit/audit.service.js';
import { KeyReader } from './key-reader.service.js';
import { KeyService } from './key.service.js';
import { PlanService } from './plan.service.js';
import { UsageService } from '../usage/usage.service.js';
import { WebhookService } from '../webhooks/webhook.service.js';

const SERVICES = [KeyService, KeyReader, PlanService, UsageService, AuditService, WebhookService];

/** The services of administration, shared by HTTP and the terminal. */
@Module({
  imports: [RateLimitModule, UsageModule],
  providers: SERVICES,
  exports: SERVICES,
})
export class AdminServicesModule {}
