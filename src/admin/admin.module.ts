import { Module } from '@nestjs/common';
import { UsageModule } from '../usage/usage.module.js';
import { AdminServicesModule } from '../keys/keys.module.js';
import { AuditController } from '../audit/audit.controller.js';
import { KeysController } from '../keys/keys.controller.js';
import { PlansController } from '../keys/plans.controller.js';
import { UsageController } from '../usage/usage.controller.js';
import { WebhooksController } from '../webhooks/webhooks.controller.js';

/** The controllers of administration. */
@Module({
  imports: [AdminServicesModule, UsageModule],
  controllers: [KeysController, PlansController, UsageController, AuditController, WebhooksController],
})
export class AdminModule {}
