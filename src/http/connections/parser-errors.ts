import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import { ApiError } from '../routes/api-error.js';
import { SECURITY_HEADERS } from '../responses/security-headers.js';

const NOT_HTTP = new ApiError('invalid_request', 'The request is not valid HTTP/1.1.');
/** By the code of the error of Node's parser. */
const PARSER_ERRORS: Record<string, ApiError> = {
  HPE_HEADER_OVERFLOW: new ApiError(
    'headers_too_large',
    'The request line and headers are larger than 16 KiB.',
  ),
  ERR_HTTP_REQUEST_TIMEOUT: new ApiError('request_timeout', 'The request did not arrive in time.'),
};

export function parserError({ code = '' }: { code?: string }): ApiError {
  return PARSER_ERRORS[code] ?? NOT_HTTP;
}

/** Returns the response to a request that has not arrived whole, for which there is no `ServerResponse`. */
export function errorResponse({ status, headers, body }: ApiError): { requestId: string; bytes: string } {
  const requestId = randomUUID();
  const content = JSON.stringify(body);
  const all = {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(content),
    'X-Request-Id': requestId,
    ...SECURITY_HEADERS,
    ...headers,
    Connection: 'close',
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return {
    requestId,
    bytes: `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${content}`,
  };
}
