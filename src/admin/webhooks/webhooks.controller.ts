import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query, Res } from '@nestjs/common';
import { ApiBody, ApiConflictResponse, ApiParam, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { CurrentPrincipal } from '../../auth/current-principal.decorator.js';
import { Operation } from '../../deprecation/operation.decorator.js';
import { UnusedBody } from '../../http/unused-body.decorator.js';
import type { Principal } from '../../http/principal.js';
import { PageResponse, Responses } from '../../openapi/responses.decorator.js';
import { pageLinks } from '../../schemas/pagination.js';
import {
  ChangeWebhookInput,
  CreateWebhookInput,
  deliveryPositionText,
  DeliveryQuery,
  RotateSecretInput,
  Webhook,
  WebhookDelivery,
  WebhookQuery,
  WebhookWithSecret,
} from './webhook.schemas.js';
import { WebhookService } from './webhook.service.js';

const PATH = '/admin/webhooks';
const DAY_SECONDS = 86_400;

const idParameter = (name: string, description: string) => () =>
  ApiParam({ name, description, schema: { type: 'string', format: 'uuid', maxLength: 36 } });
const WebhookId = idParameter('webhookId', 'Identifier of the webhook.');
const DeliveryId = idParameter('deliveryId', 'Identifier of the delivery.');

@ApiTags('webhooks')
@Controller(PATH)
export class WebhooksController {
  constructor(private readonly webhooks: WebhookService) {}

  @Get()
  @Operation('stable', 'admin:read', 'List webhooks', 'Returns one page of the webhooks, oldest first.')
  @PageResponse(Webhook, 'A page of webhooks.')
  async listWebhooks(
    @Query({ schema: WebhookQuery }) query: WebhookQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Webhook[]> {
    const { entries, last } = await this.webhooks.page(query);
    reply.header('Link', pageLinks(PATH, query, last?.id));
    return entries;
  }

  @Post()
  @Operation(
    'stable',
    'admin:write',
    'Create a webhook',
    'Creates a webhook, which receives events from then on. The response shows its secret, which is not shown again.',
  )
  @Responses({
    status: 201,
    schema: WebhookWithSecret,
    description: 'The new webhook.',
    headers: ['Location', 'NoStore'],
  })
  async createWebhook(
    @Body({ schema: CreateWebhookInput }) input: CreateWebhookInput,
    @CurrentPrincipal() { keyId: actor }: Principal,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WebhookWithSecret> {
    const created = await this.webhooks.create(input, actor);
    reply.headers({ Location: `${PATH}/${created.id}`, 'Cache-Control': 'no-store' });
    return created;
  }

  @Get(':webhookId')
  @WebhookId()
  @Operation('stable', 'admin:read', 'Get a webhook', 'Returns a webhook without its secret.')
  @Responses({ status: 200, schema: Webhook, description: 'The webhook.' })
  getWebhook(@Param('webhookId') id: string): Promise<Webhook> {
    return this.webhooks.find(id);
  }

  @Patch(':webhookId')
  @WebhookId()
  @Operation(
    'stable',
    'admin:write',
    'Change a webhook',
    'Changes the URL or the events of a webhook, disables or enables it.',
  )
  @Responses({ status: 200, schema: Webhook, description: 'The changed webhook.' })
  changeWebhook(
    @Param('webhookId') id: string,
    @Body({ schema: ChangeWebhookInput }) input: ChangeWebhookInput,
    @CurrentPrincipal() { keyId: actor }: Principal,
  ): Promise<Webhook> {
    return this.webhooks.change(id, input, actor);
  }

  @Delete(':webhookId')
  @WebhookId()
  @Operation('stable', 'admin:write', 'Delete a webhook', 'Deletes a webhook with its deliveries.')
  @Responses({ status: 200, schema: Webhook, description: 'The deleted webhook.' })
  deleteWebhook(
    @Param('webhookId') id: string,
    @CurrentPrincipal() { keyId: actor }: Principal,
  ): Promise<Webhook> {
    return this.webhooks.delete(id, actor);
  }

  @Post(':webhookId/rotate')
  @HttpCode(200)
  @ApiBody({ required: false })
  @WebhookId()
  @Operation(
    'stable',
    'admin:write',
    'Rotate the secret of a webhook',
    'Replaces the secret. Both sign until the overlap ends. The response shows the new one, which is not shown again.',
  )
  @Responses({
    status: 200,
    schema: WebhookWithSecret,
    description: 'The webhook with its new secret.',
    headers: ['NoStore'],
  })
  rotateWebhookSecret(
    @Param('webhookId') id: string,
    @Body({ schema: RotateSecretInput.prefault({}) }) { overlapSeconds = DAY_SECONDS }: RotateSecretInput,
    @CurrentPrincipal() { keyId: actor }: Principal,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WebhookWithSecret> {
    reply.header('Cache-Control', 'no-store');
    return this.webhooks.rotateSecret(id, overlapSeconds, actor);
  }

  @Post(':webhookId/test')
  @ApiConflictResponse()
  @WebhookId()
  @Operation(
    'stable',
    'admin:write',
    'Send a test event',
    'Queues a test event for a webhook, whatever events it receives. It is sent within a second.',
  )
  @Responses({ status: 201, schema: WebhookDelivery, description: 'The delivery of the test event.' })
  testWebhook(@Param('webhookId') id: string, @UnusedBody() _body: unknown): Promise<WebhookDelivery> {
    return this.webhooks.test(id);
  }

  @Get(':webhookId/deliveries')
  @WebhookId()
  @Operation(
    'stable',
    'admin:read',
    'List deliveries',
    'Returns one page of the deliveries of a webhook, newest first. They are kept for 30 days.',
  )
  @PageResponse(WebhookDelivery, 'A page of deliveries.')
  async listWebhookDeliveries(
    @Param('webhookId') id: string,
    @Query({ schema: DeliveryQuery }) query: DeliveryQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WebhookDelivery[]> {
    const { entries, last } = await this.webhooks.deliveries(id, query);
    reply.header('Link', pageLinks(`${PATH}/${id}/deliveries`, query, last && deliveryPositionText(last)));
    return entries;
  }

  @Post(':webhookId/deliveries/:deliveryId/retry')
  @HttpCode(200)
  @ApiConflictResponse()
  @WebhookId()
  @DeliveryId()
  @Operation(
    'stable',
    'admin:write',
    'Send a delivery again',
    'Queues a delivery again, in whatever state it is.',
  )
  @Responses({ status: 200, schema: WebhookDelivery, description: 'The delivery, which is pending.' })
  retryWebhookDelivery(
    @Param('webhookId') id: string,
    @Param('deliveryId') deliveryId: string,
    @UnusedBody() _body: unknown,
  ): Promise<WebhookDelivery> {
    return this.webhooks.retry(id, deliveryId);
  }
}
