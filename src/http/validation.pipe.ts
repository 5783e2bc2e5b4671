import { Injectable, StandardSchemaValidationPipe } from '@nestjs/common';
import { ApiError } from '../errors/api-error.js';

/** Validates whatever a handler's parameter names a schema for; the message names every field that is wrong. */
@Injectable()
export class ValidationPipe extends StandardSchemaValidationPipe {
  constructor() {
    super({
      exceptionFactory: (issues) => {
        const faults = issues.map(({ path = [], message }) =>
          [
            ...path.map((segment) => String(typeof segment === 'object' ? segment.key : segment)),
            message,
          ].join(' '),
        );
        return new ApiError('invalid_request', `The request is invalid: ${faults.join('; ')}.`);
      },
    });
  }
}
