import type { OpenAPIObject, OperationObject, ResponseObject, ResponsesObject } from '@nestjs/swagger';
import { errorResponseNames, errorResponses } from './error-responses.js';
import { type HeaderKey, joinHeaders, referToHeaders } from './headers.js';
import { readStability, stabilityText } from './stability.js';

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
/** The prefix of the names of error responses of deprecated operations. */
const DEPRECATED = 'Deprecated';

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
function lifecycleHeaders(operation: OperationObject): HeaderKey[] {
  return [
    ...(operation.deprecated ? OF_DEPRECATED : []),
    ...(readStability(operation) === 'stable' ? [] : OF_UNSTABLE),
  ];
}

/** Returns the operation with its stability in the description, with shared headers, and with references to its error responses. */
export function completeOperation(operation: OperationObject, method: string): OperationObject {
  const lifecycle = lifecycleHeaders(operation);
  const responses: ResponsesObject = {};
  for (const [status, response] of Object.entries(operation.responses)) {
    if (response !== undefined && !('$ref' in response)) {
      const own = status === NOT_MODIFIED_STATUS ? operation.responses['200'] : response;
      const headers = own === undefined || '$ref' in own ? {} : own.headers;
      responses[status] = { ...response, headers: joinHeaders(headers, sharedHeaders(lifecycle, status)) };
    }
  }
  for (const [status, name] of Object.entries(errorResponseNames(operation, method))) {
    responses[status] = { $ref: `#/components/responses/${operation.deprecated ? DEPRECATED : ''}${name}` };
  }
  const description = [operation.description, stabilityText(operation)].filter(Boolean).join('\n\n');
  return { ...operation, description, responses };
}

/** Returns every error response as a component, also with the headers of deprecated operations. */
export function errorComponents(): Record<string, ResponseObject> {
  return Object.fromEntries(
    errorResponses().flatMap(({ name, status, response }) =>
      ['', DEPRECATED].map((prefix) => {
        const lifecycle = [...(prefix === DEPRECATED ? OF_DEPRECATED : []), ...OF_UNSTABLE];
        const headers = joinHeaders(response.headers, sharedHeaders(lifecycle, status));
        return [`${prefix}${name}`, { ...response, headers }];
      }),
    ),
  );
}

function sharedHeaders(lifecycle: HeaderKey[], status: string) {
  return referToHeaders([
    ...OF_EVERY_RESPONSE,
    ...(status === NO_VALID_KEY_STATUS ? [] : OF_VALID_KEY),
    ...lifecycle,
  ]);
}
