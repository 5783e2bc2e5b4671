import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { ApiError } from '../errors/api-error.js';
import { isBehindhand, requestInPart, sayLast } from './pipelining.js';
import { REQUEST_TIMEOUT_MS } from './server.js';
import { SECURITY_HEADERS } from './security-headers.js';

const NOT_HTTP = new ApiError('invalid_request', 'The request is not valid HTTP/1.1.');
const NO_PROXY = new ApiError('invalid_request', 'This is no proxy: it does not answer CONNECT.');

const LATE = 'ERR_HTTP_REQUEST_TIMEOUT';

/** By the code of Node's error. */
const REFUSALS: Record<string, ApiError> = {
  HPE_HEADER_OVERFLOW: new ApiError(
    'headers_too_large',
    'The request line and headers are larger than 16 KiB.',
  ),
  [LATE]: new ApiError('request_timeout', 'The request did not arrive in time.'),
};

/** The parser refuses all that comes after what it has refused. */
const refused = new WeakSet<Socket>();

/** A connection that is refused: what is told, why as the log may know, and under which id. */
export interface Refused {
  refusal: ApiError;
  reason: string;
  requestId: string;
}

type Note = (socket: Socket, refused: Refused) => void;

/**
 * Answers what Node's HTTP parser refuses, behind the answers to all that came before: there is no request, or not all of it, so it
 * is neither authenticated nor counted, but its body has the three fields of every error.
 */
export function answerParserError(error: Error & { code?: string }, socket: Socket, note: Note): void {
  if (error.code === 'ECONNRESET' || socket.destroyed || refused.has(socket)) {
    return;
  }
  if (error.code === LATE && isBehindhand(socket)) {
    // It may have been sent in time, and wait behind others to be read. Node does not say it again.
    const late = requestInPart(socket);
    const isLateStill = () => late !== null && requestInPart(socket) === late;
    setTimeout(() => isLateStill() && answerParserError(error, socket, note), REQUEST_TIMEOUT_MS).unref();
    return;
  }
  refused.add(socket);
  const refusal = REFUSALS[error.code ?? ''] ?? NOT_HTTP;
  sayLast(socket, () => answer(socket, refusal, error.message, note));
}

/** Answers CONNECT, which asks a proxy for a tunnel: Node takes it for no request, and would close without a word. */
export function answerConnect(socket: Socket, note: Note): void {
  sayLast(socket, () => answer(socket, NO_PROXY, 'CONNECT', note));
}

function answer(socket: Socket, refusal: ApiError, reason: string, note: Note): void {
  const body = JSON.stringify(refusal.body);
  if (socket.writable) {
    const requestId = randomUUID();
    note(socket, { refusal, reason, requestId });
    const headers = {
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(body),
      'X-Request-Id': requestId,
      ...SECURITY_HEADERS,
      Connection: 'close',
    };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    const { status } = refusal;
    socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`);
  }
  socket.destroySoon();
}
