import { type ArgumentMetadata, Injectable, StandardSchemaValidationPipe } from '@nestjs/common';
import { z } from 'zod';
import { ApiError } from '../errors/api-error.js';
import { RequestBodies, RequestBody } from './request-body.js';

/** Reads bodies, and validates whatever a handler's parameter names a schema for; the message names every field that is wrong. */
@Injectable()
export class ValidationPipe extends StandardSchemaValidationPipe {
  constructor(private readonly bodies: RequestBodies) {
    super({
      exceptionFactory: (issues) => {
        const faults = issues.map(({ path = [], message }) =>
          [z.core.toDotPath(path as PropertyKey[]), message].filter(Boolean).join(' '),
        );
        return new ApiError('invalid_request', `The request is invalid: ${faults.join('; ')}.`);
      },
    });
  }

  /** @throws ApiError as `RequestBodies.read()` does, or `invalid_request`. */
  // oxlint-disable-next-line typescript/no-explicit-any
  override async transform(value: any, metadata: ArgumentMetadata): Promise<any> {
    return super.transform(value instanceof RequestBody ? await this.bodies.read(value) : value, metadata);
  }
}
