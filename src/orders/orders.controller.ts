import { Body, Controller, Get, Post, Query, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CurrentPrincipal } from '../auth/current-principal.decorator.js';
import { Operation } from '../openapi/operation.decorator.js';
import { respondWithPage } from '../http/responses/respond-with-page.js';
import { Revalidated } from '../http/responses/revalidation.hook.js';
import { Creates } from '../idempotency/creates.decorator.js';
import { createdResponse, IdempotencyService } from '../idempotency/idempotency.service.js';
import { PageResponse, Responses } from '../openapi/responses.decorator.js';
import { Tag } from '../openapi/tag.decorator.js';
import type { Principal } from '../auth/principal.js';
import { OrderRepository } from './order.repository.js';
import { NewOrder, Order, OrderQuery } from './order.schemas.js';

const PATH = '/v1/store/orders';

@Tag('store', 'Orders of animals.')
@Controller(PATH)
export class OrdersController {
  private readonly created = createdResponse(Order, null);

  constructor(
    private readonly orders: OrderRepository,
    private readonly idempotency: IdempotencyService,
  ) {}

  @Get()
  @Revalidated()
  @Operation({
    stability: 'beta',
    scope: 'orders:read',
    summary: 'List orders',
    description:
      'Returns one page of the orders placed with keys of your quota, oldest first, optionally of one ' +
      'status only.',
  })
  @PageResponse(Order, 'A page of orders.', 'ETag', 'Revalidate')
  listOrders(
    @Query({ schema: OrderQuery }) query: OrderQuery,
    @CurrentPrincipal() { quota }: Principal,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Order[]> {
    return respondWithPage(reply, this.orders.page(quota.id, query), PATH, query, ({ id }) => String(id));
  }

  @Post()
  @Creates()
  @Operation({
    stability: 'experimental',
    scope: 'orders:write',
    summary: 'Place an order',
    description: 'Places an order for an animal of the store.',
  })
  @Responses({
    status: 201,
    schema: Order,
    description: 'The new order.',
    headers: ['Idempotent-Replayed'],
  })
  createOrder(
    @Body({ schema: NewOrder }) order: NewOrder,
    @CurrentPrincipal() { quota }: Principal,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    return this.idempotency.respond(request, reply, this.created, (idempotent) =>
      this.orders.create(quota.id, order, idempotent),
    );
  }
}
