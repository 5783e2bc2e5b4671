import { Module } from '@nestjs/common';
import { RateLimitModule } from '../rate-limit/rate-limit.module.js';
import { UsageModule } from '../usage/usage.module.js';
import { KeyReader } from './key-reader.service.js';
import { KeyService } from './key.service.js';
import { KeysController } from './keys.controller.js';
import { PlanService } from './plan.service.js';
import { PlansController } from './plans.controller.js';
import { QuotaService } from './quota.service.js';
import { QuotasController } from './quotas.controller.js';

/** What administrators do with keys, quotas and plans, over HTTP and from the terminal. */
@Module({
  imports: [RateLimitModule, UsageModule],
  controllers: [KeysController, QuotasController, PlansController],
  providers: [KeyService, KeyReader, QuotaService, PlanService],
  exports: [KeyService, KeyReader, QuotaService, PlanService],
})
export class KeysModule {}
