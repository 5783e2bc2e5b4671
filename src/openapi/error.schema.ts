import { z } from 'zod';
import { type ErrorCode, statusOfCode } from '../http/routes/catalogue.js';
import { openEnum } from '../schemas/open-enum.js';
import { plainText } from '../schemas/text-schemas.js';

const ID = 'Error';
/** A message may quote the path of its request, and Node reads at most 16 KiB of headers. */
const MESSAGE_MAX_LENGTH = 32_768;

// The body of every error response. `meta` registers the schema, which is how the document finds it.
z.strictObject({
  code: openEnum(Object.keys(statusOfCode) as ErrorCode[]).meta({
    description: 'Machine-readable error code. The meaning of a code never changes; new codes may be added.',
  }),
  message: plainText('Human-readable message: what went wrong, and what to do.', MESSAGE_MAX_LENGTH),
  status: z.int32().min(400).max(599).meta({ description: 'The HTTP status code of the response.' }),
}).meta({
  id: ID,
  description: 'The body of every error response.',
  examples: [{ code: 'not_found', message: 'No animal has the id 7.', status: 404 }],
});

export const errorReference = { $ref: `#/components/schemas/${ID}` };
