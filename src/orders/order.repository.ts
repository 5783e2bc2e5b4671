import { Injectable } from '@nestjs/common';
import pg from 'pg';
import type { BatchMetrics } from '../database/batcher.js';
import { Clock } from '../settings/clock.js';
import type { Prisma } from '../database/generated/client.js';
import { PrismaService } from '../database/prisma.service.js';
import { loadSql, QueryRunner } from '../database/query-runner.js';
import { ApiError } from '../errors/api-error.js';
import {
  CreationBatcher,
  type CreationResponse,
  type IdempotentRequest,
  type Resource,
} from '../idempotency/creation-batcher.js';
import { type Page, toPage } from '../schemas/pagination.js';
import type { NewOrder, Order, OrderQuery } from './order.schemas.js';

/** The foreign key of an order's animal. */
const PET_REFERENCE = 'orders_pet_id_fkey';
const FIELDS = { id: true, petId: true, quantity: true, shipDate: true, status: true, complete: true };

const CREATION: Resource<NewOrder & { quotaId: string }> = {
  name: 'place-orders',
  table: 'orders',
  json: loadSql(import.meta.url, 'order-as-json').text,
  path: null,
  columns: {
    quota_id: { type: 'uuid', value: ({ quotaId }) => quotaId },
    pet_id: { type: 'bigint', value: ({ petId }) => petId },
    quantity: { type: 'int', value: ({ quantity }) => quantity },
    ship_date: { type: 'timestamptz', value: ({ shipDate }) => shipDate?.toISOString() ?? null },
  },
  // The foreign key alone would fail the whole batch.
  condition: {
    sql: '(SELECT pets.id FROM pets WHERE pets.id = request.pet_id) IS NOT NULL',
    error: unknownPet,
  },
};

type Row = Prisma.OrderGetPayload<{ select: typeof FIELDS }>;

/** Stores and lists orders. An order belongs to a quota, and only keys of that quota can list it. */
@Injectable()
export class OrderRepository {
  private readonly creations: CreationBatcher<NewOrder & { quotaId: string }>;

  constructor(
    private readonly prisma: PrismaService,
    queries: QueryRunner,
    clock: Clock,
  ) {
    this.creations = new CreationBatcher(CREATION, queries, clock);
  }

  get batches(): BatchMetrics {
    return this.creations.metrics;
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
   * @throws ApiError `invalid_request` if there is no such animal, `idempotency_conflict`, `idempotency_key_reused`; the
   *   database's error.
   */
  async create(
    quotaId: string,
    order: NewOrder,
    idempotent: IdempotentRequest | null = null,
  ): Promise<CreationResponse> {
    const place = () => this.creations.load({ input: { ...order, quotaId }, idempotent });
    try {
      return await place();
    } catch (error) {
      if (error instanceof pg.DatabaseError && error.constraint === PET_REFERENCE) {
        // An animal of the batch was deleted by hand after its check. The next check misses it.
        return place();
      }
      throw error;
    }
  }
}

function unknownPet({ petId }: NewOrder): ApiError {
  const message = `The request is invalid: petId must be that of an animal; there is none with ${petId}.`;
  return new ApiError('invalid_request', message);
}

function toOrder({ shipDate, ...order }: Row): Order {
  return shipDate === null ? order : { ...order, shipDate: shipDate.toISOString() };
}
