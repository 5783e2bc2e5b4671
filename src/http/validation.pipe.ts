import { type ArgumentMetadata, Injectable, StandardSchemaValidationPipe } from '@nestjs/common';
import { ApiError } from '../errors/api-error.js';
import { ConcurrencyLimit } from '../server/concurrency-limit.js';
import { RequestBody } from './request-body.js';

/** Reads bodies, and validates whatever a handler's parameter names a schema for; the message names every field that is wrong. */
@Injectable()
export class ValidationPipe extends StandardSchemaValidationPipe {
  constructor(private readonly concurrencyLimit: ConcurrencyLimit) {
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

  /** @throws ApiError as `RequestBody.json()` does, or `invalid_request`. */
  // oxlint-disable-next-line typescript/no-explicit-any
  override async transform(value: any, metadata: ArgumentMetadata): Promise<any> {
    return super.transform(value instanceof RequestBody ? await this.read(value) : value, metadata);
  }

  private async read(body: RequestBody): Promise<unknown> {
    if (body.isPending) {
      // A slow client holds no slot; its request is counted already, so there are not many.
      this.concurrencyLimit.pause(body.request);
      await body.arrival();
      this.concurrencyLimit.resume(body.request);
    }
    return body.json();
  }
}
