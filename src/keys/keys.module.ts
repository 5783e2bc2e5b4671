import { Module } from '@nestjs/common';
import { RateLimitModule } from '../rate-limit/rate-limit.module.js';
import { UsageModule } from '../usage/usage.module.js';
import { KeyReader } from './key-reader.service.js';
import { KeyService } from './key.service.js';
import { KeysController } from './keys.controller.js';
import { PlanService } from './plan.service.js';
import { PlansController } from './plans.controller.js';

/** What administrators do with keys and plans, over HTTP and from the terminal. */
@Module({
  imports: [RateLimitModule, UsageModule],
  controllers: [KeysController, PlansController],
  providers: [KeyService, KeyReader, PlanService],
  exports: [KeyService, KeyReader, PlanService],
})
export class KeysModule {}
