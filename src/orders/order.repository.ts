import { Injectable } from '@nestjs/common';
import type { Order as Row } from '../database/generated/client.js';
import { PrismaService } from '../database/access/prisma.service.js';
import {
  type Created,
  CreationBatcher,
  type IdempotentRequest,
  type Resource,
} from '../idempotency/creation-batcher.js';
import { type Page, toPage } from '../schemas/pagination.js';
import type { NewOrder, Order, OrderQuery } from './order.schemas.js';

const CREATION: Resource<Row, Order> = {
  name: 'place-orders',
  table: 'orders',
  toRecord: toOrder,
  reference: { field: 'petId', table: 'pets', noun: 'animal' },
};

/** Stores and lists orders. An order belongs to a quota, and only keys of that quota can list it. */
@Injectable()
export class OrderRepository {
  private readonly creations: CreationBatcher<Row, Order>;

  constructor(private readonly prisma: PrismaService) {
    this.creations = new CreationBatcher(CREATION, prisma);
  }

  /**
   * Returns one page of the orders of a quota, oldest first.
   *
   * @throws the database's error.
   */
  async page(quotaId: string, { limit, status, cursor }: OrderQuery): Promise<Page<Order>> {
    const rows = await this.prisma.order.findMany({
      where: { quotaId, ...(status && { status }), ...(cursor !== undefined && { id: { gt: cursor } }) },
      orderBy: { id: 'asc' },
      take: limit + 1,
    });
    return toPage(rows.map(toOrder), limit);
  }

  /**
   * Places an order.
   *
   * @param idempotent set for a request with an `Idempotency-Key`.
   * @returns the order, or the response to an earlier request with the same key.
   * @throws ApiError `invalid_request` if there is no such animal, `idempotency_conflict`,
   *   `idempotency_key_reused`; the database's error.
   */
  create(
    quotaId: string,
    { petId, quantity, shipDate }: NewOrder,
    idempotent: IdempotentRequest<Order> | null = null,
  ): Promise<Order | Created> {
    const row = { quotaId, petId, quantity, shipDate: shipDate ?? null, status: 'placed', complete: false };
    return this.creations.load({ row, idempotent });
  }
}

function toOrder({ id, petId, quantity, shipDate, status, complete }: Row): Order {
  // A constraint of the table allows no other.
  const order = { id, petId, quantity, status: status as Order['status'], complete };
  return shipDate ? { ...order, shipDate: shipDate.toISOString() } : order;
}
