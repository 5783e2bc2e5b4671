import { z } from 'zod';
import { instant } from '../schemas/instant.js';
import { int32 } from '../schemas/int32.js';
import { int64, parseInt64 } from '../schemas/int64.js';
import { openEnum } from '../schemas/open-enum.js';
import { cursorParameter, enumParameter, limitParameter } from '../schemas/pagination.js';
import { BODY_MESSAGE, dateTime } from '../schemas/text-schemas.js';

const STATUSES = ['placed', 'approved', 'delivered'] as const;

const OrderStatus = openEnum(STATUSES).meta({ id: 'OrderStatus', description: 'Status of the order.' });

const petId = int64.meta({ description: 'Identifier of the ordered animal.' });
const QUANTITY = 'Number of animals ordered.';
const SHIP_DATE = { description: 'Requested time of shipment.', format: 'date-time' };

/** The body of a request that places an order. Unknown fields are ignored. */
export const NewOrder = z
  .object({ petId, quantity: int32(QUANTITY), shipDate: instant.optional().meta(SHIP_DATE) }, BODY_MESSAGE)
  .meta({
    id: 'NewOrder',
    description: 'A new order.',
    examples: [{ petId: 7, quantity: 1, shipDate: '2027-01-01T00:00:00Z' }],
  });
export type NewOrder = z.infer<typeof NewOrder>;

/** An order in a response. */
export const Order = z
  .object({
    id: int64.meta({ description: 'Unique identifier, assigned by the service when the order is placed.' }),
    petId,
    quantity: z.int32().min(1).meta({ description: QUANTITY }),
    shipDate: dateTime(SHIP_DATE.description).optional(),
    status: OrderStatus,
    complete: z.boolean().meta({ description: 'Whether the order is complete.' }),
  })
  .meta({
    id: 'Order',
    description: 'An order of an animal.',
    examples: [
      {
        id: 3,
        petId: 7,
        quantity: 1,
        shipDate: '2027-01-01T00:00:00.000Z',
        status: 'placed',
        complete: false,
      },
    ],
  });
export type Order = z.infer<typeof Order>;

export const OrderQuery = z.object({
  limit: limitParameter('Maximum number of orders returned.'),
  status: enumParameter(STATUSES, 'Returns only orders with this status.'),
  /** The page begins after this identifier. */
  cursor: cursorParameter(parseInt64),
});
export type OrderQuery = z.infer<typeof OrderQuery>;
