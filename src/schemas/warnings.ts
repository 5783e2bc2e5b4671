import { z } from 'zod';
import { openEnum, OPEN_LIST_MAX } from './open-enum.js';
import { plainText } from './text-schemas.js';

const MESSAGE_MAX_LENGTH = 8192;

/** Returns the schema of the field `warnings` of a response, empty if nothing needs attention. */
export const warnings = <const Codes extends readonly string[]>(codes: Codes, description: string) =>
  z
    .object({
      code: openEnum(codes).meta({ description: 'What the warning is about, for programs.' }),
      message: plainText('The warning as a sentence.', MESSAGE_MAX_LENGTH),
    })
    .array()
    .max(OPEN_LIST_MAX)
    .meta({ description });
