import { Module } from '@nestjs/common';
import { RateLimitModule } from '../rate-limit/rate-limit.module.js';
import { WebhookEventWatch } from './event-watch.js';
import { WebhookDeliverer } from './webhook-deliverer.js';

@Module({
  imports: [RateLimitModule],
  providers: [WebhookEventWatch, WebhookDeliverer],
  exports: [WebhookDeliverer],
})
export class WebhookDeliveryModule {}
