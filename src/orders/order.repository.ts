import { Injectable } from '@nestjs/common';
import { isDriverAdapterError } from '@prisma/driver-adapter-utils';
import type { Database } from '../database/atomically.js';
import { Prisma } from '../database/generated/client.js';
import { PrismaService } from '../database/prisma.service.js';
import { ApiError } from '../errors/api-error.js';
import type { NewOrder, Order, OrderStatus } from './order.schemas.js';

/** The foreign key of an order's animal. */
const PET_REFERENCE = 'orders_pet_id_fkey';
const FIELDS = { id: true, petId: true, quantity: true, shipDate: true, status: true, complete: true };

type Row = Prisma.OrderGetPayload<{ select: typeof FIELDS }>;

/** Which orders a page shows: `limit` of them, after the one of identifier `after`, oldest first. */
export interface PageOfOrders {
  limit: number;
  status?: OrderStatus | undefined;
  after?: bigint | undefined;
}

/** The orders. Each belongs to a quota, and is shown to no other. */
@Injectable()
export class OrderRepository {
  constructor(private readonly prisma: PrismaService) {}

  /** @throws the database's error. */
  async page(
    quotaId: string,
    { limit, status, after }: PageOfOrders,
  ): Promise<{ orders: Order[]; more: boolean }> {
    const rows = await this.prisma.order.findMany({
      select: FIELDS,
      where: { quotaId, ...(status && { status }), ...(after !== undefined && { id: { gt: after } }) },
      orderBy: { id: 'asc' },
      take: limit + 1,
    });
    return { orders: rows.slice(0, limit).map(orderOf), more: rows.length > limit };
  }

  /**
   * Places an order: durably, or as part of a transaction that somebody else ends.
   *
   * @throws ApiError `invalid_request` when there is no such animal; the database's error.
   */
  async place(
    quotaId: string,
    { petId, quantity, shipDate }: NewOrder,
    database: Database = this.prisma,
  ): Promise<Order> {
    try {
      return orderOf(
        await database.order.create({
          select: FIELDS,
          data: { quotaId, petId, quantity, shipDate: shipDate ?? null },
        }),
      );
    } catch (error) {
      if (isOfUnknownPet(error)) {
        const message = `The request is invalid: petId must be that of an animal; there is none with ${petId}.`;
        throw new ApiError('invalid_request', message, { cause: error });
      }
      throw error;
    }
  }
}

/** A quota that is removed by hand meanwhile breaks a foreign key as well, which is no fault of the request. */
function isOfUnknownPet(error: unknown): boolean {
  const failure = error instanceof Prisma.PrismaClientKnownRequestError && error.meta?.['driverAdapterError'];
  if (!failure || !isDriverAdapterError(failure) || failure.cause.kind !== 'ForeignKeyConstraintViolation') {
    return false;
  }
  const { constraint } = failure.cause;
  return constraint !== undefined && 'index' in constraint && constraint.index === PET_REFERENCE;
}

function orderOf({ shipDate, ...order }: Row): Order {
  return shipDate === null ? order : { ...order, shipDate: shipDate.toISOString() };
}
