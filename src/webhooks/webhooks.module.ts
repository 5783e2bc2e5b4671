import { Module } from '@nestjs/common';
import { RateLimitModule } from '../rate-limit/rate-limit.module.js';
import { DeliveryQueue } from './delivery-queue.js';
import { WebhookEventWatch } from './event-watch.js';
import { WebhookCleanup } from './webhook.cleanup.js';
import { WebhookDeliverer } from './webhook-deliverer.js';

/** Finds events and delivers them. Administration only writes and reads the tables. */
@Module({
  imports: [RateLimitModule],
  providers: [WebhookEventWatch, DeliveryQueue, WebhookDeliverer, WebhookCleanup],
  exports: [WebhookDeliverer],
})
export class WebhooksModule {}
