import { z } from 'zod';
import { openEnum } from '../../schemas/open-enum.js';
import { instant, instantParameter } from '../../schemas/instant.js';
import {
  cursorParameter,
  enumParameter,
  integerParameter,
  limitParameter,
} from '../../schemas/pagination.js';
import {
  dateTime,
  keyHints,
  KEY_NAME_MAX_LENGTH,
  lineParameter,
  plainText,
  uuid,
} from '../../schemas/text-schemas.js';
import { isUuid, uuidParameter } from '../../schemas/uuid.js';
import { PLAN_NAME_MAX_LENGTH } from '../../rate-limit/rules/plan-name.js';
import { statusOfCode } from '../../http/routes/catalogue.js';
import { REQUEST_ID_MAX_LENGTH } from '../rules/request-id.js';
import { externalIdParameter, OPERATION_MAX_LENGTH, shownExternalId } from '../usage.schemas.js';

export const MESSAGE_MAX_LENGTH = 2000;
/** That of `loggablePath`, with the sign that it was cut. */
const PATH_MAX_LENGTH = 257;

/** The codes of responses to requests that need a key. */
const CODES = Object.keys(statusOfCode) as (keyof typeof statusOfCode)[];

const EXAMPLE = {
  requestId: 'b7c1f0de-3d0a-4d55-9a41-3f6a0c2b9e11',
  requestedAt: '2026-11-21T08:30:00.000Z',
  method: 'POST',
  path: '/v1/pets',
  operation: 'createPet',
  status: 400,
  code: 'invalid_request',
  message: 'The request is invalid: name is required.',
  durationMs: 2.4,
  keyId: '019d3c5e-7a10-7c1e-9a52-0d3c0f8f6a11',
  keyName: "Ann's shop",
  prefix: 'ask_live_Ab3d',
  lastFour: 'x7Qp',
};

export const FailedRequest = z
  .object({
    requestId: plainText('The `X-Request-Id` of the response.', REQUEST_ID_MAX_LENGTH),
    requestedAt: dateTime('Time of the request.'),
    method: plainText('Method of the request.', 64),
    path: plainText('Path of the request, without the query and without keys.', PATH_MAX_LENGTH),
    operation: plainText(
      'The `operationId` of the operation; `none` for a request that matched no operation.',
      OPERATION_MAX_LENGTH,
    ),
    status: z.int32().min(400).max(599).meta({ description: 'Status of the response.' }),
    code: openEnum(CODES).meta({ description: 'The `code` of the response.' }),
    message: plainText('The `message` of the response.', MESSAGE_MAX_LENGTH),
    durationMs: z.number().min(0).meta({ description: 'Milliseconds until the response was sent.' }),
    keyId: uuid('Identifier of the key; null without a known key.').nullable(),
    keyName: plainText('Name of the key; null without a known key.', KEY_NAME_MAX_LENGTH).nullable(),
    prefix: keyHints.prefix.nullable(),
    lastFour: keyHints.lastFour.nullable(),
  })
  .meta({
    id: 'FailedRequest',
    description: 'A request that got 4xx or 5xx.',
    examples: [EXAMPLE],
  });
export type FailedRequest = z.infer<typeof FailedRequest>;

export const AdminFailedRequest = FailedRequest.extend({
  quotaId: uuid('Identifier of the quota of the key; null without a known key.').nullable(),
  plan: plainText(
    'Name of the plan of the quota now; null without a known key.',
    PLAN_NAME_MAX_LENGTH,
  ).nullable(),
  externalId: shownExternalId,
  clientAddress: plainText('Address of the client.', 45),
}).meta({
  id: 'AdminFailedRequest',
  description: 'A request of any client that got 4xx or 5xx.',
  examples: [
    {
      ...EXAMPLE,
      quotaId: '019d3c5e-7a10-7c1e-9a52-0d3c0f8f6a12',
      plan: 'pro',
      externalId: 'customer-4711',
      clientAddress: '203.0.113.7',
    },
  ],
});
export type AdminFailedRequest = z.infer<typeof AdminFailedRequest>;

/** The position after a failed request: its time and identifier. */
const readPosition = (position: string) => {
  const [at = '', id = ''] = position.split('|');
  const { success, data } = instant.safeParse(at);
  return success && isUuid(id) ? { requestedAt: data, id } : null;
};

export const FailedRequestQuery = z.object({
  limit: limitParameter('Maximum number of requests returned.'),
  requestId: lineParameter('Only requests with this `X-Request-Id`.', REQUEST_ID_MAX_LENGTH).optional(),
  keyId: uuidParameter('Only requests with the key with this identifier.'),
  status: integerParameter(599, 400).optional().meta({ description: 'Only requests with this status.' }),
  code: enumParameter(CODES, 'Only requests with this code.'),
  since: instantParameter('Only requests of this time or later.'),
  until: instantParameter('Only requests before this time.'),
  cursor: cursorParameter(readPosition),
});
export type FailedRequestQuery = z.infer<typeof FailedRequestQuery>;

export const AdminFailedRequestQuery = FailedRequestQuery.extend({
  quotaId: uuidParameter('Only requests with keys of the quota with this identifier.'),
  externalId: externalIdParameter('Only requests with keys whose quota has exactly this external id.'),
});
export type AdminFailedRequestQuery = z.infer<typeof AdminFailedRequestQuery>;
