import { type ArgumentMetadata, Injectable, StandardSchemaValidationPipe } from '@nestjs/common';
import { z } from 'zod';
import { ApiError } from './api-error.js';
import { RequestBody } from './request-body.js';

/** Parses bodies, and validates what a parameter names a schema for; the message names every wrong field. */
@Injectable()
export class ValidationPipe extends StandardSchemaValidationPipe {
  constructor() {
    super({
      exceptionFactory: (issues) => {
        const faults = issues.map(({ path = [], message }) =>
          [z.core.toDotPath(path as PropertyKey[]), message].filter(Boolean).join(' '),
        );
        return new ApiError('invalid_request', `The request is invalid: ${faults.join('; ')}.`);
      },
    });
  }

  /** @throws ApiError as `RequestBody.json()` does, or `invalid_request`. */
  // oxlint-disable-next-line typescript/no-explicit-any
  override transform(value: any, metadata: ArgumentMetadata): Promise<any> {
    return super.transform(value instanceof RequestBody ? value.json() : value, metadata);
  }
}
