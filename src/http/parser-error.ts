import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { ApiError } from '../errors/api-error.js';

const NOT_HTTP = new ApiError('invalid_request', 'The request is not valid HTTP/1.1.');

/** By the code of Node's error. */
const REFUSALS: Record<string, ApiError> = {
  HPE_HEADER_OVERFLOW: new ApiError(
    'headers_too_large',
    'The request line and headers are larger than 16 KiB.',
  ),
  ERR_HTTP_REQUEST_TIMEOUT: new ApiError('request_timeout', 'The request did not arrive in time.'),
};

/**
 * Answers what Node's HTTP parser refuses before there is a request: it has no path, so it is neither
 * authenticated nor counted, but its body has the three fields of every error.
 */
export function answerParserError(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) {
    return;
  }
  const refusal = REFUSALS[error.code ?? ''] ?? NOT_HTTP;
  const body = JSON.stringify(refusal.body);
  if (socket.writable) {
    socket.write(
      `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}\r\nContent-Type: application/json\r\n` +
        `Content-Length: ${Buffer.byteLength(body)}\r\nX-Request-Id: ${randomUUID()}\r\nConnection: close\r\n\r\n${body}`,
    );
  }
  socket.destroySoon();
}
