import type { OperationObject, ResponsesObject } from '@nestjs/swagger';
import { errorResponses } from './error-responses.js';
import { type HeaderKey, joinHeaders, referToHeaders } from './headers.js';
import { stabilityOf, stabilityText } from './stability.js';

const OF_EVERY_RESPONSE: readonly HeaderKey[] = [
  'X-Request-Id',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'RateLimit',
  'RateLimit-Policy',
  'X-RateLimit-Degraded',
];
/** Headers of every response to a valid key. Responses with status 401 have none. */
const OF_VALID_KEY: readonly HeaderKey[] = ['X-Api-Key-Expires'];
const NO_VALID_KEY_STATUS = '401';
/** This response has the headers of the 200 that it stands for (RFC 9110, section 15.4.5). */
const NOT_MODIFIED_STATUS = '304';
const OF_DEPRECATED: readonly HeaderKey[] = ['Deprecation', 'Sunset', 'DeprecationLinks'];
const OF_UNSTABLE: readonly HeaderKey[] = ['X-Stability'];

/** Headers of every response of every operation to a valid key. */
export const SHARED_HEADERS = [...OF_EVERY_RESPONSE, ...OF_VALID_KEY];
/** Headers of every response of an operation that is deprecated or not stable. */
export const LIFECYCLE_HEADERS = [...OF_DEPRECATED, ...OF_UNSTABLE];

/** Returns the operation with its stability in the description, and with error responses and shared headers. */
export function completeOperation(operation: OperationObject, method: string): OperationObject {
  const responses: ResponsesObject = {};
  for (const [status, response] of Object.entries({
    ...operation.responses,
    ...errorResponses(operation, method),
  })) {
    if (response !== undefined) {
      const shared = referToHeaders(sharedHeaders(operation, status));
      const own = status === NOT_MODIFIED_STATUS ? operation.responses['200'] : response;
      responses[status] =
        own === undefined || '$ref' in own || '$ref' in response
          ? response
          : { ...response, headers: joinHeaders(own.headers, shared) };
    }
  }
  const description = [operation.description, stabilityText(operation)].filter(Boolean).join('\n\n');
  return { ...operation, description, responses };
}

function sharedHeaders(operation: OperationObject, status: string): HeaderKey[] {
  return [
    ...OF_EVERY_RESPONSE,
    ...(status === NO_VALID_KEY_STATUS ? [] : OF_VALID_KEY),
    ...(operation.deprecated ? OF_DEPRECATED : []),
    ...(stabilityOf(operation) === 'stable' ? [] : OF_UNSTABLE),
  ];
}
