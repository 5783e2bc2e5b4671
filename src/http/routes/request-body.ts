import type { IncomingHttpHeaders } from 'node:http';
import { ApiError } from './api-error.js';
import { usualMessages } from './catalogue.js';
import { parseJsonBody } from './json-body.js';

export const JSON_TYPE = /^application\/json\s*(;|$)/i;

const NOT_JSON = new ApiError('unsupported_media_type', usualMessages.unsupported_media_type);
const ENCODED = new ApiError(
  'unsupported_media_type',
  'The body must have no content coding: leave out the header Content-Encoding.',
);

/** The body of a request, which has arrived whole. */
export class RequestBody {
  constructor(
    readonly bytes: Buffer,
    private readonly headers: IncomingHttpHeaders,
  ) {}

  /**
   * Returns the JSON value of the body, or undefined if it is empty.
   *
   * @throws ApiError `unsupported_media_type` or `invalid_request`.
   */
  json(): unknown {
    const { 'content-type': type = '', 'content-encoding': codings = '' } = this.headers;
    if (!JSON_TYPE.test(type)) {
      throw NOT_JSON;
    }
    // Many clients send the type without a body.
    if (this.bytes.length === 0) {
      return undefined;
    }
    // Besides `identity`, which is no coding, and empty elements (RFC 9110, section 8.4).
    if (codings.split(',').some((coding) => !/^(identity)?$/i.test(coding.trim()))) {
      throw ENCODED;
    }
    try {
      return parseJsonBody(this.bytes);
    } catch (error) {
      throw new ApiError('invalid_request', `The body is not JSON: ${(error as SyntaxError).message}.`);
    }
  }
}
