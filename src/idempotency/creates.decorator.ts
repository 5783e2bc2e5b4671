import { applyDecorators } from '@nestjs/common';
import { ApiConflictResponse, ApiHeader, ApiUnprocessableEntityResponse } from '@nestjs/swagger';

/** Documents the `Idempotency-Key` of an operation that responds by `IdempotencyService`. */
export const Creates = () =>
  applyDecorators(
    ApiHeader({
      name: 'Idempotency-Key',
      required: false,
      description:
        'Any token of your own that is new for each request, such as a UUID. Quotes are part of it. The ' +
        'same request with the same key within 24 hours gets the first response again, and nothing is ' +
        'created twice.',
      schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\x21-\\x7E]+$' },
    }),
    ApiConflictResponse(),
    ApiUnprocessableEntityResponse(),
  );
