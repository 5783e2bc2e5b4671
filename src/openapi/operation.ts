import type { OperationObject, ResponsesObject } from '@nestjs/swagger';
import { errorResponses } from './error-answers.js';
import { type HeaderKey, referToHeaders } from './headers.js';

const OF_EVERY_RESPONSE: readonly HeaderKey[] = [
  'X-Request-Id',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'RateLimit',
  'RateLimit-Policy',
];
const OF_DEPRECATED: readonly HeaderKey[] = ['Deprecation', 'Sunset', 'DeprecationLinks'];
/** An operation that says nothing else is stable. */
const STABLE = { 'x-stability': 'stable' };

/** Adds to what an operation says of itself what the service answers for all of them: errors, headers, stability. */
export function completeOperation(operation: OperationObject): OperationObject {
  const shared = referToHeaders(
    operation.deprecated ? [...OF_EVERY_RESPONSE, ...OF_DEPRECATED] : OF_EVERY_RESPONSE,
  );
  const responses: ResponsesObject = {};
  for (const [status, response] of Object.entries({ ...operation.responses, ...errorResponses(operation) })) {
    if (response !== undefined) {
      responses[status] =
        '$ref' in response ? response : { ...response, headers: { ...response.headers, ...shared } };
    }
  }
  return { ...STABLE, ...operation, responses };
}
