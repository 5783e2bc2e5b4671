import { Injectable } from '@nestjs/common';
import type { MetricsRegistry, MetricsSource } from '../process/metrics-registry.js';
import type { Prisma } from '../database/generated/client.js';
import { PrismaService } from '../database/access/prisma.service.js';
import {
  CreationBatcher,
  type CreationResponse,
  type IdempotentRequest,
  type Resource,
} from '../idempotency/creation-batcher.js';
import { type Page, toPage } from '../schemas/pagination.js';
import { type NewOrder, Order, type OrderQuery } from './order.schemas.js';
import { declareTables } from '../database/access/tables.js';

declareTables({
  orders: { privileges: 'SELECT, INSERT', sequence: 'orders_id_seq', indexed: 'quantity >= 1' },
});

const FIELDS = { id: true, petId: true, quantity: true, shipDate: true, status: true, complete: true };

/** What every new order is. */
const NEW = { status: 'placed', complete: false } as const;

type OrderInput = NewOrder & typeof NEW & { quotaId: string };

const CREATION: Resource<OrderInput> = {
  name: 'place-orders',
  table: 'orders',
  path: null,
  schema: Order,
  record: (order, id) => toOrder({ ...order, id }),
  columns: {
    quotaId: { name: 'quota_id', type: 'uuid' },
    petId: { name: 'pet_id', type: 'bigint' },
    quantity: { name: 'quantity', type: 'int' },
    shipDate: { name: 'ship_date', type: 'timestamptz' },
    status: { name: 'status', type: 'text' },
    complete: { name: 'complete', type: 'boolean' },
  },
  reference: { column: 'pet_id', table: 'pets', field: 'petId', noun: 'animal' },
};

type Row = Prisma.OrderGetPayload<{ select: typeof FIELDS }>;
type OrderRecord = Omit<Row, 'shipDate'> & { shipDate?: Date | null | undefined };

/** Stores and lists orders. An order belongs to a quota, and only keys of that quota can list it. */
@Injectable()
export class OrderRepository implements MetricsSource {
  private readonly creations: CreationBatcher<OrderInput>;

  constructor(private readonly prisma: PrismaService) {
    this.creations = new CreationBatcher(CREATION, prisma);
  }

  addMetrics(metrics: MetricsRegistry): void {
    metrics.addBatches(this.creations.metrics);
  }

  /**
   * Returns one page of the orders of a quota, oldest first.
   *
   * @throws the database's error.
   */
  async page(quotaId: string, { limit, status, cursor }: OrderQuery): Promise<Page<Order>> {
    const rows = await this.prisma.order.findMany({
      select: FIELDS,
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
   * @returns the response, or that to an earlier request with the same key.
   * @throws ApiError `invalid_request` if there is no such animal, `idempotency_conflict`,
   *   `idempotency_key_reused`; the database's error.
   */
  create(
    quotaId: string,
    order: NewOrder,
    idempotent: IdempotentRequest | null = null,
  ): Promise<CreationResponse> {
    return this.creations.load({ input: { ...order, ...NEW, quotaId }, idempotent });
  }
}

function toOrder({ id, petId, quantity, shipDate, status, complete }: OrderRecord): Order {
  // A constraint of the table allows no other.
  const order = { id, petId, quantity, status: status as Order['status'], complete };
  return shipDate ? { ...order, shipDate: shipDate.toISOString() } : order;
}
