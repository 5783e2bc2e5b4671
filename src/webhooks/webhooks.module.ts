import { Module } from '@nestjs/common';
import { WebhookService } from './webhook.service.js';
import { WebhooksController } from './webhooks.controller.js';

/** What administrators do with webhooks and their deliveries, over HTTP and from the terminal. */
@Module({ controllers: [WebhooksController], providers: [WebhookService], exports: [WebhookService] })
export class WebhooksModule {}
