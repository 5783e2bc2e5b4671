import {
  Body,
  Controller,
  Delete,
  Get,
  Header,
  HttpCode,
  Param,
  Patch,
  Post,
  Query,
  Res,
} from '@nestjs/common';
import { ApiConflictResponse, ApiParam } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import type { Actor } from '../audit/audit.js';
import { CurrentActor } from '../audit/current-actor.decorator.js';
import { AdminRead, AdminWrite } from '../openapi/operation.decorator.js';
import { PageResponse, Responses } from '../openapi/responses.decorator.js';
import { Tag } from '../openapi/tag.decorator.js';
import { respondWithPage } from '../http/responses/respond-with-page.js';
import {
  CreateWebhookInput,
  DeliveryQuery,
  UpdateWebhookInput,
  Webhook,
  WebhookDelivery,
  WebhookQuery,
  WebhookWithSecret,
} from './webhook.schemas.js';
import {
  type DeliveryRecord,
  type NewWebhook,
  type WebhookRecord,
  WebhookService,
} from './webhook.service.js';

const PATH = '/admin/webhooks';
const Id = (name: string, description: string) =>
  ApiParam({ name, description, schema: { type: 'string', format: 'uuid', maxLength: 36 } });
const WebhookId = () => Id('webhookId', 'Identifier of the webhook.');

@Tag('webhooks', 'Receivers of events on keys and quotas, and their deliveries.')
@Controller(PATH)
export class WebhooksController {
  constructor(private readonly webhooks: WebhookService) {}

  @Get()
  @AdminRead({
    summary: 'List webhooks',
    description:
      'Returns one page of the webhooks, without their secrets, oldest first; with `quotaId` those that ' +
      'are limited to that quota.',
  })
  @PageResponse(Webhook, 'A page of webhooks.')
  listWebhooks(
    @Query({ schema: WebhookQuery }) query: WebhookQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WebhookRecord[]> {
    const page = this.webhooks.page(query);
    return respondWithPage(reply, page, PATH, query, ({ id }) => id);
  }

  @Post()
  @Header('Cache-Control', 'no-store')
  @ApiConflictResponse()
  @AdminWrite({
    summary: 'Create a webhook',
    description:
      'It receives events from then on. There may be 20. One with a `quotaId` receives only events of that ' +
      'quota and of its keys.',
  })
  @Responses({
    status: 201,
    schema: WebhookWithSecret,
    description: 'It is the only response with the secret.',
    headers: ['NoStore'],
  })
  createWebhook(
    @Body({ schema: CreateWebhookInput }) input: CreateWebhookInput,
    @CurrentActor() actor: Actor,
  ): Promise<NewWebhook> {
    return this.webhooks.create(input, actor);
  }

  @Get(':webhookId')
  @WebhookId()
  @AdminRead({
    summary: 'Get a webhook',
    description: 'Returns a webhook, without its secret.',
  })
  @Responses({ status: 200, schema: Webhook, description: 'The webhook.' })
  getWebhook(@Param('webhookId') id: string): Promise<WebhookRecord> {
    return this.webhooks.find(id);
  }

  @Patch(':webhookId')
  @WebhookId()
  @AdminWrite({
    summary: 'Update a webhook',
    description:
      'Changes its URL, its events, and whether it is paused. Pending deliveries are sent at once when it ' +
      'is resumed, or has a new URL and is not paused. The service pauses a webhook whose receiver ' +
      'responds 410, or none of whose deliveries succeeds for three days.',
  })
  @Responses({ status: 200, schema: Webhook, description: 'The updated webhook.' })
  updateWebhook(
    @Param('webhookId') id: string,
    @Body({ schema: UpdateWebhookInput }) input: UpdateWebhookInput,
    @CurrentActor() actor: Actor,
  ): Promise<WebhookRecord> {
    return this.webhooks.update(id, input, actor);
  }

  @Delete(':webhookId')
  @WebhookId()
  @AdminWrite({
    summary: 'Delete a webhook',
    description: 'Deletes a webhook with its deliveries.',
  })
  @Responses({ status: 200, schema: Webhook, description: 'The deleted webhook.' })
  deleteWebhook(@Param('webhookId') id: string, @CurrentActor() actor: Actor): Promise<WebhookRecord> {
    return this.webhooks.delete(id, actor);
  }

  @Post(':webhookId/rotate-secret')
  @HttpCode(200)
  @Header('Cache-Control', 'no-store')
  @WebhookId()
  @AdminWrite({
    summary: 'Rotate the secret',
    description: 'Both sign for 24 hours, or until the next rotation.',
  })
  @Responses({
    status: 200,
    schema: WebhookWithSecret,
    description: 'It is the only response with the new secret.',
    headers: ['NoStore'],
  })
  rotateWebhookSecret(@Param('webhookId') id: string, @CurrentActor() actor: Actor): Promise<NewWebhook> {
    return this.webhooks.rotateSecret(id, actor);
  }

  @Post(':webhookId/test')
  @WebhookId()
  @ApiConflictResponse()
  @AdminWrite({
    summary: 'Send a test event',
    description:
      'Queues an event of the type `webhook.test` for this webhook, whatever its events. It is sent once, ' +
      'within seconds; the result is at `GET /admin/webhooks/{webhookId}/deliveries/{deliveryId}`.',
  })
  @Responses({ status: 201, schema: WebhookDelivery, description: 'The delivery, which is pending.' })
  testWebhook(@Param('webhookId') id: string, @CurrentActor() actor: Actor): Promise<DeliveryRecord> {
    return this.webhooks.test(id, actor);
  }

  @Get(':webhookId/deliveries')
  @WebhookId()
  @AdminRead({
    summary: 'List deliveries',
    description: 'Returns one page of those of 30 days, newest first.',
  })
  @PageResponse(WebhookDelivery, 'A page of deliveries.')
  listWebhookDeliveries(
    @Param('webhookId') id: string,
    @Query({ schema: DeliveryQuery }) query: DeliveryQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<DeliveryRecord[]> {
    const page = this.webhooks.deliveries(id, query);
    return respondWithPage(reply, page, `${PATH}/${id}/deliveries`, query, (last) => last.id);
  }

  @Get(':webhookId/deliveries/:deliveryId')
  @WebhookId()
  @Id('deliveryId', 'Identifier of the delivery.')
  @AdminRead({
    summary: 'Get a delivery',
    description: 'Returns a delivery of the last 30 days, with the result of its last attempt.',
  })
  @Responses({ status: 200, schema: WebhookDelivery, description: 'The delivery.' })
  getWebhookDelivery(
    @Param('webhookId') id: string,
    @Param('deliveryId') deliveryId: string,
  ): Promise<DeliveryRecord> {
    return this.webhooks.delivery(id, deliveryId);
  }

  @Post(':webhookId/deliveries/:deliveryId/resend')
  @HttpCode(200)
  @WebhookId()
  @ApiConflictResponse()
  @Id('deliveryId', 'Identifier of the delivery.')
  @AdminWrite({
    summary: 'Send a delivery again',
    description: 'Queues a delivery again, unless it is pending.',
  })
  @Responses({ status: 200, schema: WebhookDelivery, description: 'The delivery, which is pending.' })
  resendWebhookDelivery(
    @Param('webhookId') id: string,
    @Param('deliveryId') deliveryId: string,
    @CurrentActor() actor: Actor,
  ): Promise<DeliveryRecord> {
    return this.webhooks.resend(id, deliveryId, actor);
  }
}
