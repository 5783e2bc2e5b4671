import type { OperationObject, ResponseObject, ResponsesObject } from '@nestjs/swagger';
import { errorResponses, readScope, readStability } from './error-responses.js';
import { type HeaderKey, referToHeaders } from './headers.js';

const OF_EVERY_RESPONSE: HeaderKey[] = [
  'X-Request-Id',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'RateLimit',
  'RateLimit-Policy',
  'X-RateLimit-Degraded',
];
/** This response has the headers of the 200 that it stands for (RFC 9110, section 15.4.5). */
const NOT_MODIFIED_STATUS = '304';
const OF_DEPRECATED: HeaderKey[] = ['Deprecation', 'Sunset', 'DeprecationLinks'];
const OF_UNSTABLE: HeaderKey[] = ['X-Stability'];
const DEPRECATED = 'Deprecated';

/** Bounds a page of 100 entries, whose longest text is a name of 255 characters, which may all be quotes. */
const CSV_SCHEMA = { type: 'string', maxLength: 131_072 };

const PROMISES = {
  stable: 'Changes are compatible, and a removal is announced 12 months before.',
  beta: 'It may change with one month of notice.',
  experimental: 'It may change or be removed without notice. It is available only if `EXPERIMENTAL` is on.',
};

/** Instead of a promise, for an operation whose removal is announced. */
const UNTIL_REMOVED = 'It does not change until it is removed.';

/** Returns the operation with what its declarations imply: description, shared headers and errors. */
export function completeOperation(operation: OperationObject, method: string, path: string): OperationObject {
  const stability = readStability(operation);
  const lifecycle = [
    ...(operation.deprecated ? OF_DEPRECATED : []),
    ...(stability === 'stable' ? [] : OF_UNSTABLE),
  ];
  const responses: ResponsesObject = {};
  for (const [status, response] of Object.entries(operation.responses)) {
    const own = operation.responses[status === NOT_MODIFIED_STATUS ? '200' : status] as ResponseObject;
    const { headers = {} } = own;
    const { content } = response as ResponseObject;
    if (content?.['text/csv'] !== undefined) {
      // `@ApiProduces()` describes every form by the schema of the JSON.
      content['text/csv'] = { schema: CSV_SCHEMA };
    }
    responses[status] = withSharedHeaders({ ...(response as ResponseObject), headers }, status, lifecycle);
  }
  const errors = errorResponses.filter(({ appliesTo }) => appliesTo(operation, method, path));
  for (const { name, status } of errors) {
    responses[status] = { $ref: `#/components/responses/${operation.deprecated ? DEPRECATED : ''}${name}` };
  }
  const scope = readScope(operation);
  const paragraphs = [
    operation.description,
    scope !== undefined && `**Scope: \`${scope}\`.**`,
    `**Stability: ${stability}.** ${operation.deprecated ? UNTIL_REMOVED : PROMISES[stability]}`,
  ];
  const description = paragraphs.filter(Boolean).join('\n\n');
  return { ...operation, description, responses };
}

/** Returns every error response as a component, also with the headers of deprecated operations. */
export function errorComponents(): Record<string, ResponseObject> {
  return Object.fromEntries(
    errorResponses.flatMap(({ name, status, component }) => [
      [name, withSharedHeaders(component, String(status), OF_UNSTABLE)],
      [
        `${DEPRECATED}${name}`,
        withSharedHeaders(component, String(status), [...OF_DEPRECATED, ...OF_UNSTABLE]),
      ],
    ]),
  );
}

function withSharedHeaders(response: ResponseObject, status: string, lifecycle: HeaderKey[]): ResponseObject {
  // A response with status 401 is to a request without a valid key.
  const ofKey: HeaderKey[] = status === '401' ? [] : ['X-Api-Key-Expires'];
  const shared = [...OF_EVERY_RESPONSE, ...ofKey, ...lifecycle];
  return { ...response, headers: { ...response.headers, ...referToHeaders(shared) } };
}
