import { z } from 'zod';
import { type ErrorCode, statusOfCode } from '../errors/catalogue.js';
import { plainText } from '../http/text-schemas.js';

const ID = 'Error';
/** A message may quote the path of its request, and Node reads at most 16 KiB of headers. */
const MESSAGE_MAX_LENGTH = 32_768;

/** The body of every error response, as the document tells of it. */
export const ErrorSchema = z
  .strictObject({
    code: z.enum(Object.keys(statusOfCode) as ErrorCode[]).meta({
      description: 'Machine-readable error code. A code keeps its meaning for good; new ones may be added.',
    }),
    message: plainText('Says, for a human, what was wrong and what to do.', MESSAGE_MAX_LENGTH),
    status: z.int32().min(400).max(599).meta({ description: 'The HTTP status code of the response.' }),
  })
  .meta({
    id: ID,
    description: 'What every response says that is no success.',
    examples: [{ code: 'not_found', message: 'There is no animal with the identifier "7".', status: 404 }],
  });

/** How a response refers to it. */
export const errorReference = { $ref: `#/components/schemas/${ID}` };
