import { z } from 'zod';
import { instantParameter } from '../schemas/instant.js';
import { limitParameter } from '../schemas/pagination.js';
import { dateTime, plainText, uuid } from '../schemas/text-schemas.js';
import { uuidParameter } from '../schemas/uuid.js';
import { OPERATIONS_MAX } from '../usage/usage-report.repository.js';
import {
  countFields,
  OPERATION_MAX_LENGTH,
  periodParameter,
  totalsCursor,
} from '../usage/usage-totals.schemas.js';
import { NAME_MAX_LENGTH as KEY_NAME_MAX_LENGTH } from './key.schemas.js';

const range = {
  period: periodParameter,
  since: instantParameter('Only periods that started at this time or later.'),
  until: instantParameter('Only periods that started before this time.'),
};

const keyParameter = uuidParameter('Only usage of the key with this identifier.', 'must be the id of a key');

const lastAt = dateTime('Time of the last request.');

export const UsageTotalsQuery = z.object({
  limit: limitParameter('Maximum number of entries returned.'),
  ...range,
  key: keyParameter,
  cursor: totalsCursor,
});
export type UsageTotalsQuery = z.infer<typeof UsageTotalsQuery>;

/** The requests of one key in a range. */
export const KeyUsage = z
  .object({
    keyId: uuid('Identifier of the key.'),
    keyName: plainText(
      'Name of the key; null if the key was deleted by direct SQL.',
      KEY_NAME_MAX_LENGTH,
    ).nullable(),
    quotaId: uuid('Identifier of its quota.'),
    ...countFields,
    lastAt,
  })
  .meta({ id: 'KeyUsage', description: 'The requests of one key in a range of time.' });

export const TopKeysQuery = z.object({ limit: limitParameter('Maximum number of keys returned.'), ...range });
export type TopKeysQuery = z.infer<typeof TopKeysQuery>;

/** The requests for one operation in a range. */
export const OperationUsage = z
  .object({
    operation: plainText(
      'The `operationId` of the operation; `none` for requests that matched no operation.',
      OPERATION_MAX_LENGTH,
    ),
    deprecated: z.boolean().meta({ description: 'Whether the operation was deprecated then.' }),
    ...countFields,
    lastAt,
  })
  .meta({ id: 'OperationUsage', description: 'The requests for one operation in a range of time.' });

export const OperationUsages = OperationUsage.array().max(OPERATIONS_MAX);

export const OperationUsageQuery = z.object({ ...range, key: keyParameter });
export type OperationUsageQuery = z.infer<typeof OperationUsageQuery>;
