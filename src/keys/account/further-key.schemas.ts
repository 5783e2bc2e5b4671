import { z } from 'zod';
import { CreateKeyInput, END_OF_DAY, givenRestrictions, IssuedKey, KeyWithUsage } from '../key.schemas.js';
import { BODY_MESSAGE, uuid } from '../../schemas/text-schemas.js';
import { pageQuery } from '../../schemas/uuid.js';

const WITHIN = 'They must be within those of your key, which are the default';

export const NewFurtherKey = z
  .object(
    {
      name: CreateKeyInput.shape.name,
      scopes: givenRestrictions.scopes.meta({
        description: `What the key may do. ${WITHIN}, without \`keys:write\`.`,
      }),
      allowedNetworks: givenRestrictions.allowedNetworks.meta({
        description: `The networks from which the key may be used; null for anywhere. ${WITHIN}.`,
      }),
      expiresAt: CreateKeyInput.shape.expiresAt.meta({
        description:
          'The time from which the key is no longer valid. At most that of your key, the default. ' +
          END_OF_DAY,
      }),
    },
    BODY_MESSAGE,
  )
  .meta({
    id: 'NewFurtherKey',
    description: 'A new key on the quota of your key.',
    examples: [{ name: 'Stock sync', scopes: ['pets:read'] }],
  });
export type NewFurtherKey = z.infer<typeof NewFurtherKey>;

const SHOWN = {
  id: true,
  name: true,
  scopes: true,
  allowedNetworks: true,
  state: true,
  prefix: true,
  lastFour: true,
  createdAt: true,
  expiresAt: true,
  revokedAt: true,
  suspendedAt: true,
  predecessorId: true,
  successorId: true,
  issuerId: true,
} as const;

const issuerId = uuid('Identifier of the key by which it was issued.');

export const FurtherKey = KeyWithUsage.pick({ ...SHOWN, lastUsedAt: true })
  .extend({ issuerId })
  .meta({
    id: 'FurtherKey',
    description: 'A key of your quota that a holder issued, without the key itself.',
  });

export const IssuedFurtherKey = IssuedKey.pick({ ...SHOWN, key: true })
  .extend({ issuerId })
  .meta({ id: 'IssuedFurtherKey', description: 'A new key of your quota.' });

export const FurtherKeyQuery = pageQuery('keys');
