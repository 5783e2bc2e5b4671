import { z } from 'zod';
import { int64, int64sParameter, parseInt64 } from '../schemas/int64.js';
import { cursorParameter, integerParameter, LIMIT_DEFAULT, LIMIT_MAX, once } from '../schemas/pagination.js';
import { BODY_MESSAGE, bodyText } from '../schemas/text-schemas.js';

const STATUSES = ['available', 'pending', 'sold'] as const;
const STATUS_MESSAGE = `must be one of ${STATUSES.join(', ')}`;

export const PetStatus = z
  .enum(STATUSES, { error: STATUS_MESSAGE })
  .meta({ id: 'PetStatus', description: 'Availability of the animal.' });
export type PetStatus = z.infer<typeof PetStatus>;

const name = bodyText("The animal's name.", 255);
const categoryId = int64.meta({ description: 'Identifier of the category the animal belongs to.' });

/** The body of a request to add an animal. Unknown fields are ignored. */
export const NewPet = z.object({ name, categoryId, status: PetStatus.optional() }, BODY_MESSAGE).meta({
  id: 'NewPet',
  description: 'An animal to add.',
  examples: [{ name: 'Biscuit', categoryId: 3, status: 'available' }],
});
export type NewPet = z.infer<typeof NewPet>;

/** An animal in a response. */
export const Pet = z
  .object({
    id: int64.meta({ description: 'Unique identifier, assigned by the service on creation.' }),
    name: z.string().meta(name.meta() ?? {}),
    categoryId,
    status: PetStatus.optional(),
  })
  .meta({
    id: 'Pet',
    description: 'An animal that the store offers.',
    examples: [{ id: 7, name: 'Biscuit', categoryId: 3, status: 'available' }],
  });
export type Pet = z.infer<typeof Pet>;

export const PetQuery = z.object({
  limit: integerParameter(LIMIT_MAX)
    .optional()
    .meta({
      description: `Maximum number of animals returned. The default with \`id\` is ${LIMIT_MAX}.`,
      default: LIMIT_DEFAULT,
    }),
  status: z
    .string(once(STATUS_MESSAGE))
    .pipe(PetStatus)
    .optional()
    .meta({ description: 'Returns only animals with this status.' }),
  // Without an example: the reference would fill it in, and so list only these by default.
  id: int64sParameter(LIMIT_MAX)
    .optional()
    .meta({
      description:
        'Returns only animals with these identifiers. Repeat it for several: `?id=7&id=9`. ' +
        'Those that do not exist are left out.',
    }),
  /** The identifier after which the page begins. */
  cursor: cursorParameter(parseInt64),
});
export type PetQuery = z.infer<typeof PetQuery>;
