import type { OperationObject, ResponseObject } from '@nestjs/swagger';
import { type ErrorCode, statusOfCode } from '../http/routes/catalogue.js';
import { roleForPath } from '../auth/rules/role.js';
import { errorReference } from './error.schema.js';
import { type HeaderKey, referToHeaders } from './headers.js';

/** Returns what `@Operation()` declares of the operation. */
export function readStability(operation: OperationObject): 'stable' | 'beta' | 'experimental' {
  return (operation as OperationObject & { 'x-stability': 'stable' | 'beta' | 'experimental' })[
    'x-stability'
  ];
}

/** Returns the scope that `@Operation()` declares, null for none. */
export function readScope({ security }: OperationObject): string | null {
  return security?.[0]?.['apiKey']?.[0] ?? null;
}

/** An error response, and the operations that have it. */
interface ErrorResponse {
  /** Its name among the components of a document. */
  name: string;
  description: string;
  /** The error codes, each with an example of its message. They determine the status. */
  messages: Partial<Record<ErrorCode, string>>;
  headers?: readonly HeaderKey[];
  appliesTo: (operation: OperationObject, method: string, path: string) => boolean;
}

const RESTRICTED = {
  insufficient_scope: 'This API key lacks the scope pets:write, which the operation needs.',
  address_not_allowed:
    'This API key may not be used from the address 198.51.100.7. An administrator can allow its network.',
};

const every = () => true;
/** A body is read before anything else, also if the operation does not use it. */
const readsBody = (_operation: OperationObject, method: string) => method !== 'get';
const takesBody = ({ requestBody }: OperationObject) => requestBody !== undefined;
const takesIdempotencyKey = ({ parameters = [] }: OperationObject) =>
  parameters.some((parameter) => 'name' in parameter && parameter.name === 'Idempotency-Key');
const takesParameters = (location: 'query' | 'path') => (operation: OperationObject) =>
  operation.parameters?.some((parameter) => 'in' in parameter && parameter.in === location) === true;

const ERROR_RESPONSES: readonly ErrorResponse[] = [
  {
    name: 'InvalidParameter',
    description: 'A query parameter is invalid. The message names every invalid parameter.',
    messages: { invalid_request: 'The request is invalid: limit must be an integer from 1 to 100.' },
    appliesTo: takesParameters('query'),
  },
  {
    name: 'InvalidBody',
    description:
      'The body is not JSON, lacks a required field, or has an invalid field. ' +
      'The message names every missing or invalid field.',
    messages: { invalid_request: 'The request is invalid: name is required; categoryId is required.' },
    appliesTo: takesBody,
  },
  {
    name: 'InvalidRequest',
    description: 'The request has several `Authorization` headers.',
    messages: { invalid_request: 'Send one Authorization header, with one API key.' },
    headers: ['WWW-Authenticate'],
    appliesTo: (operation) => !takesParameters('query')(operation) && !takesBody(operation),
  },
  {
    name: 'Unauthorized',
    description: 'The API key is missing or invalid.',
    messages: {
      missing_api_key: 'An API key is required. Send it in the header "Authorization: Bearer <API_KEY>".',
      invalid_api_key: 'The API key is unknown.',
    },
    headers: ['WWW-Authenticate'],
    appliesTo: every,
  },
  {
    name: 'Forbidden',
    description: 'The API key is valid, but its role is not `admin`, or it is restricted.',
    messages: { forbidden: 'This needs an API key whose role is admin.', ...RESTRICTED },
    headers: ['ScopeChallenge'],
    appliesTo: (_operation, _method, path) => roleForPath(path) === 'admin',
  },
  {
    name: 'Restricted',
    description:
      'The API key is valid, but it may not be used from this address, or lacks the scope of the ' +
      'operation, if it has one.',
    messages: RESTRICTED,
    headers: ['ScopeChallenge'],
    appliesTo: (_operation, _method, path) => roleForPath(path) === 'client',
  },
  {
    name: 'NotFound',
    description: 'There is no resource with this identifier.',
    messages: { not_found: 'No animal has the id 7.' },
    // An operation without a path parameter declares it by `@ApiNotFoundResponse()`.
    appliesTo: (operation) => takesParameters('path')(operation) || operation.responses['404'] !== undefined,
  },
  {
    name: 'NotOffered',
    description: 'The operation is experimental, and not offered in this environment.',
    messages: { not_found: 'This operation is experimental, and not offered in this environment.' },
    appliesTo: (operation) => readStability(operation) === 'experimental',
  },
  {
    name: 'Conflict',
    description:
      'The state of the resource does not allow the operation. The message says why and what to do.',
    messages: { conflict: 'The key is revoked, so it cannot be rotated. Issue a new one.' },
    // Declared by `@ApiConflictResponse()`.
    appliesTo: (operation) => operation.responses['409'] !== undefined && !takesIdempotencyKey(operation),
  },
  {
    name: 'IdempotencyConflict',
    description:
      'A request with this `Idempotency-Key` is still in progress. ' +
      'Send the same request again after `Retry-After`.',
    messages: {
      idempotency_conflict:
        'A request with this Idempotency-Key is still in progress. ' +
        'Send it again shortly to get its response.',
    },
    headers: ['Retry-After'],
    appliesTo: takesIdempotencyKey,
  },
  {
    name: 'Removed',
    description: 'The operation was removed. The message names its successors.',
    messages: {
      endpoint_removed:
        'This operation was removed on 2030-12-05. ' +
        'Use GET /v1/pets?id=7 or GET /v1/pets?status=available instead.',
    },
    appliesTo: ({ deprecated }) => deprecated === true,
  },
  {
    name: 'PayloadTooLarge',
    description: 'The body is too large.',
    messages: { payload_too_large: 'The body is larger than 64 KiB.' },
    appliesTo: readsBody,
  },
  {
    name: 'UnsupportedMediaType',
    description: 'The content type of the body is not JSON, or the body has a content coding.',
    messages: {
      unsupported_media_type: 'The body must be JSON, with the header Content-Type: application/json.',
    },
    appliesTo: takesBody,
  },
  {
    name: 'IdempotencyKeyReused',
    description: 'This `Idempotency-Key` was used for a different request within the last 24 hours.',
    messages: {
      idempotency_key_reused:
        'This Idempotency-Key was used for another request within the last 24 hours. Use a new one for each.',
    },
    appliesTo: takesIdempotencyKey,
  },
  {
    name: 'RateLimited',
    description:
      'The key is over its rate limit, banned because too many requests followed a 429, or has too many ' +
      'requests in flight at once. Wait for `Retry-After`.',
    messages: {
      rate_limit_exceeded:
        'Rate limit exceeded: plan free allows 60 requests per minute. ' +
        'Wait 31 seconds before the next request. 59 denials remain within this minute until the API ' +
        'key is banned.',
      api_key_banned:
        'This API key is banned until 2027-03-05T12:35:30Z, because too many requests followed a 429 ' +
        'within one minute. Send no requests for 60 seconds. After any later 429 wait for Retry-After, or ' +
        'the key is banned again.',
      too_many_concurrent_requests:
        'Too many requests of this client are in flight at once. Send fewer at a time, and this one again ' +
        'shortly.',
    },
    headers: ['Retry-After'],
    appliesTo: every,
  },
  {
    name: 'InternalError',
    description: 'An internal error of the service.',
    messages: {
      internal_error:
        'Something went wrong on our side. If the problem persists, contact us and quote request id ' +
        '7f9c2f2e-5b0c-4c3a-9a51-0a3a3a5b7c11.',
    },
    appliesTo: every,
  },
  {
    name: 'Unavailable',
    description: 'The service is temporarily unavailable or overloaded. Wait for `Retry-After`.',
    messages: { service_unavailable: 'The database is unavailable or overloaded. Try again shortly.' },
    headers: ['Retry-After'],
    appliesTo: every,
  },
];

/** Every error response, with its status and its component in a document. */
export const errorResponses = ERROR_RESPONSES.map(({ description, messages, headers = [], ...response }) => {
  const [code] = Object.keys(messages) as [ErrorCode];
  const status = statusOfCode[code];
  const examples = Object.fromEntries(
    Object.entries(messages).map(([each, message]) => [each, { value: { code: each, message, status } }]),
  );
  const component: ResponseObject = {
    description,
    headers: referToHeaders(['NoStore', ...headers]),
    content: { 'application/json': { schema: errorReference, examples } },
  };
  return { ...response, status, component };
});
