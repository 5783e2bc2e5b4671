import type { OperationObject, ResponseObject } from '@nestjs/swagger';
import { z } from 'zod';
import { type ErrorCode, statusOfCode, usualMessages } from '../http/routes/catalogue.js';
import { type Scope, SCOPES } from '../auth/rules/scope.js';
import type { Stability } from '../deprecation/rules/lifecycle.js';
import { openEnum } from '../schemas/open-enum.js';
import { plainText } from '../schemas/text-schemas.js';
import { type HeaderKey, referToHeaders } from './headers.js';

/** A message may quote the path of its request, and Node reads at most 16 KiB of headers. */
const MESSAGE_MAX_LENGTH = 32_768;

// The body of every error response. `meta` registers the schema, which is how the document finds it.
z.strictObject({
  code: openEnum(Object.keys(statusOfCode) as ErrorCode[]).meta({
    description: 'Machine-readable error code. The meaning of a code never changes; new codes may be added.',
  }),
  message: plainText('Human-readable message: what went wrong, and what to do.', MESSAGE_MAX_LENGTH),
  status: z.int32().min(400).max(599).meta({ description: 'The HTTP status code of the response.' }),
}).meta({
  id: 'Error',
  description: 'The body of every error response.',
  examples: [{ code: 'not_found', message: 'No animal has the id 7.', status: 404 }],
});

const SCHEMA = { $ref: '#/components/schemas/Error' };

/** Returns what `@Operation()` declares of the operation. */
export function readStability(operation: OperationObject): Stability {
  return (operation as OperationObject & { 'x-stability': Stability })['x-stability'];
}

/** Returns the scope that `@Operation()` declares of the operation; undefined if it needs none. */
export const readScope = (operation: OperationObject): string | undefined =>
  operation.security?.[0]?.['apiKey']?.[0];

/** An error response, and the operations that have it: all without `appliesTo`. */
interface ErrorResponse {
  description: string;
  /** They have the same status. */
  codes: [ErrorCode, ...ErrorCode[]];
  /** Instead of the messages in `EXAMPLES`. */
  examples?: Partial<Record<ErrorCode, string>>;
  headers?: readonly HeaderKey[];
  appliesTo?: (operation: OperationObject, method: string, path: string) => boolean;
}

const QUOTE =
  'If the problem persists, contact us and quote request id 7f9c2f2e-5b0c-4c3a-9a51-0a3a3a5b7c11.';

/** An example of each message that depends on its request. */
const EXAMPLES: Partial<Record<ErrorCode, string>> = {
  ...usualMessages,
  invalid_api_key: 'The API key is unknown.',
  address_not_allowed:
    'This API key may not be used from the address 198.51.100.7. An administrator can allow its network.',
  not_found: 'No animal has the id 7.',
  conflict: 'The key is revoked, so it cannot be rotated. Issue a new one.',
  endpoint_removed:
    'This operation was removed on 2030-12-05. ' +
    'Use GET /v1/pets?id=7 or GET /v1/pets?status=available instead.',
  rate_limit_exceeded:
    'Rate limit exceeded: plan free allows 60 requests per minute. Wait 31 seconds before the next ' +
    'request. 12 denials remain within this minute until the API key is banned.',
  api_key_banned:
    'This API key is banned until 2027-03-05T12:35:30Z, because too many requests followed a 429 within ' +
    'one minute. Send no requests for 60 seconds. After any later 429 wait for Retry-After, or the key is ' +
    'banned again.',
  internal_error: `Something went wrong on our side. ${QUOTE}`,
  service_unavailable: `The database is unavailable or overloaded. Try again shortly. ${QUOTE}`,
};

/** A body is read before anything else, even if the operation does not use it. */
const readsBody = (_operation: OperationObject, method: string) => method !== 'get';
const takesBody = ({ requestBody }: OperationObject) => requestBody !== undefined;
const takesIdempotencyKey = ({ parameters = [] }: OperationObject) =>
  parameters.some((parameter) => 'name' in parameter && parameter.name === 'Idempotency-Key');
const takesParameters = (location: 'query' | 'path') => (operation: OperationObject) =>
  operation.parameters?.some((parameter) => 'in' in parameter && parameter.in === location) === true;

/** Returns the response to a key that may not use the operations with this scope. */
function restricted(scope: Scope): ErrorResponse {
  const isForAdministrators = scope.startsWith('admin:');
  const role = isForAdministrators ? 'its role is not `admin`, ' : '';
  const codes = ['insufficient_scope', 'address_not_allowed'] as const;
  return {
    description:
      `The API key is valid, but ${role}it lacks the scope \`${scope}\`, ` +
      'or it may not be used from this address.',
    codes: isForAdministrators ? ['forbidden', ...codes] : [...codes],
    examples: { insufficient_scope: `This API key lacks the scope ${scope}, which the operation needs.` },
    headers: ['ScopeChallenge'],
    appliesTo: (operation) => readScope(operation) === scope,
  };
}

/** Returns `PetsRead` for `pets:read`. */
function pascalCase(scope: Scope): string {
  return scope.replaceAll(/(?:^|:)(.)/g, (_match, letter: string) => letter.toUpperCase());
}

/** By their names among the components of a document. */
const ERROR_RESPONSES: Record<string, ErrorResponse> = {
  InvalidParameter: {
    description: 'A query parameter is invalid. The message names every invalid parameter.',
    codes: ['invalid_request'],
    examples: { invalid_request: 'The request is invalid: limit must be an integer from 1 to 100.' },
    appliesTo: takesParameters('query'),
  },
  InvalidBody: {
    description:
      'The body is not JSON, lacks a required field, or has an invalid field. ' +
      'The message names every missing or invalid field.',
    codes: ['invalid_request'],
    examples: { invalid_request: 'The request is invalid: name is required; categoryId is required.' },
    appliesTo: takesBody,
  },
  InvalidRequest: {
    description: 'The request has several `Authorization` headers.',
    codes: ['invalid_request'],
    examples: { invalid_request: 'Send one Authorization header, with one API key.' },
    headers: ['WWW-Authenticate'],
    appliesTo: (operation) => !takesParameters('query')(operation) && !takesBody(operation),
  },
  Unauthorized: {
    description: 'The API key is missing or invalid.',
    codes: ['missing_api_key', 'invalid_api_key'],
    headers: ['WWW-Authenticate'],
  },
  ...Object.fromEntries(SCOPES.map((scope) => [`Lacks${pascalCase(scope)}`, restricted(scope)])),
  Restricted: {
    description: 'The API key is valid, but it may not be used from this address.',
    codes: ['address_not_allowed'],
    headers: ['ScopeChallenge'],
    appliesTo: (operation) => readScope(operation) === undefined,
  },
  NotFound: {
    description: 'There is no resource with this identifier.',
    codes: ['not_found'],
    // An operation without a path parameter declares it by `@ApiNotFoundResponse()`.
    appliesTo: (operation) => takesParameters('path')(operation) || operation.responses['404'] !== undefined,
  },
  NotOffered: {
    description: 'The operation is experimental, and not offered in this environment.',
    codes: ['not_found'],
    examples: { not_found: 'This operation is experimental, and not offered in this environment.' },
    appliesTo: (operation) => readStability(operation) === 'experimental',
  },
  Conflict: {
    description:
      'The state of the resource does not allow the operation. The message says why and what to do.',
    codes: ['conflict'],
    // Declared by `@ApiConflictResponse()`.
    appliesTo: (operation) => operation.responses['409'] !== undefined && !takesIdempotencyKey(operation),
  },
  IdempotencyConflict: {
    description:
      'A request with this `Idempotency-Key` is still in progress. ' +
      'Send the same request again after `Retry-After`.',
    codes: ['idempotency_conflict'],
    headers: ['Retry-After'],
    appliesTo: takesIdempotencyKey,
  },
  Removed: {
    description: 'The operation was removed. The message names its successors.',
    codes: ['endpoint_removed'],
    appliesTo: ({ deprecated }) => deprecated === true,
  },
  PayloadTooLarge: {
    description: 'The body is too large.',
    codes: ['payload_too_large'],
    appliesTo: readsBody,
  },
  UnsupportedMediaType: {
    description: 'The content type of the body is not JSON, or the body has a content coding.',
    codes: ['unsupported_media_type'],
    appliesTo: takesBody,
  },
  IdempotencyKeyReused: {
    description: 'This `Idempotency-Key` was used for a different request within the last 24 hours.',
    codes: ['idempotency_key_reused'],
    appliesTo: takesIdempotencyKey,
  },
  RateLimited: {
    description:
      'The key is over its rate limit, banned because too many requests followed a 429, or has too many ' +
      'requests in flight at once. Wait for `Retry-After`.',
    codes: ['rate_limit_exceeded', 'api_key_banned', 'too_many_concurrent_requests'],
    headers: ['Retry-After'],
  },
  InternalError: { description: 'An internal error of the service.', codes: ['internal_error'] },
  Unavailable: {
    description: 'The service is temporarily unavailable or overloaded. Wait for `Retry-After`.',
    codes: ['service_unavailable'],
    headers: ['Retry-After'],
  },
};

/** Every error response, with its status and its component in a document. */
export const errorResponses = Object.entries(ERROR_RESPONSES).map(
  ([name, { description, codes, examples: own, headers = [], appliesTo = () => true }]) => {
    const status = statusOfCode[codes[0]];
    const examples = codes.map((code) => [
      code,
      { value: { code, message: own?.[code] ?? EXAMPLES[code], status } },
    ]);
    const component: ResponseObject = {
      description,
      headers: referToHeaders(['NoStore', ...headers]),
      content: {
        'application/json': { schema: SCHEMA, examples: Object.fromEntries(examples) },
      },
    };
    return { name, status, component, appliesTo };
  },
);
