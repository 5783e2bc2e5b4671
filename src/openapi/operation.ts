import type { OpenAPIObject, OperationObject, ResponsesObject } from '@nestjs/swagger';
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

/** Returns the paths with what `change` returns of each operation. */
export function mapOperations(
  paths: OpenAPIObject['paths'],
  change: (operation: OperationObject, method: string) => OperationObject,
): OpenAPIObject['paths'] {
  return Object.fromEntries(
    Object.entries(paths).map(([path, item]) => [
      path,
      Object.fromEntries(
        Object.entries(item).map(([method, operation]: [string, OperationObject]) => [
          method,
          change(operation, method),
        ]),
      ),
    ]),
  );
}

/** Returns the headers of every response of an operation because it is deprecated or not stable. */
export function lifecycleHeaders(operation: OperationObject): HeaderKey[] {
  return [
    ...(operation.deprecated ? OF_DEPRECATED : []),
    ...(stabilityOf(operation) === 'stable' ? [] : OF_UNSTABLE),
  ];
}

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
    ...lifecycleHeaders(operation),
  ];
}
