import { randomUUID } from 'node:crypto';
import { type IncomingMessage, type Server, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyInstance } from 'fastify';
import { ApiError } from '../errors/api-error.js';
import { pipelines } from './pipelining.js';
import { SECURITY_HEADERS } from '../http/security-headers.js';
import { STANDSTILL_TIMEOUT_MS } from './server-options.js';

const NO_PROXY = new ApiError('invalid_request', 'This is no proxy: it does not serve CONNECT.');
const NOT_HTTP = new ApiError('invalid_request', 'The request is not valid HTTP/1.1.');
const TOO_LARGE = new ApiError('headers_too_large', 'The request line and headers are larger than 16 KiB.');
const LATE = new ApiError('request_timeout', 'The request did not arrive in time.');
/** By the code of Node's error. */
const PARSER_ERRORS: Record<string, ApiError> = {
  HPE_HEADER_OVERFLOW: TOO_LARGE,
  ERR_HTTP_REQUEST_TIMEOUT: LATE,
};

/**
 * Ends connections on which no valid or timely request arrives. No hook sees these, so they are counted and logged here. There is no
 * request, or only a part, so it is neither authenticated nor counted against a limit; its body has the three fields of every error.
 */
@Injectable()
export class RefusedConnections {
  /** How many connections got each status: three of the parser, and one of a shutdown. */
  readonly byStatus = new Map([400, 408, 431, 503].map((status) => [status, 0]));
  private readonly unparsable = new WeakSet<Socket>();

  constructor(private readonly host: HttpAdapterHost<FastifyAdapter>) {}

  /** Refuses CONNECT from now on; Node would close such a connection without a response. */
  watch(server: Server): void {
    server.on('connect', ({ socket }: IncomingMessage) => {
      // Node has removed its own listeners.
      socket.on('error', () => socket.destroy());
      socket.setTimeout(STANDSTILL_TIMEOUT_MS, () => socket.destroy());
      this.refuse(socket, NO_PROXY, 'CONNECT');
    });
  }

  /** Responds to an error of Node's HTTP parser. */
  respondTo(error: Error & { code?: string }, socket: Socket): void {
    const refusal = PARSER_ERRORS[error.code ?? ''] ?? NOT_HTTP;
    // Bytes behind a waiting request are not read, so they may have been sent in time.
    const isUnread = refusal === LATE && (pipelines.get(socket)?.turns.length ?? 0) > 1;
    // The parser fails again on all that follows.
    if (!socket.destroyed && !isUnread && !this.unparsable.has(socket)) {
      this.unparsable.add(socket);
      this.refuse(socket, refusal, error.message);
    }
  }

  /** Ends a connection with this response, after the responses to all requests that have arrived whole. */
  refuse(socket: Socket, error: ApiError, reason: string): void {
    const turns = pipelines.get(socket)?.turns ?? [];
    const last = turns.at(-1);
    const respond = () => this.respond(socket, error, reason);
    const isInPart = isRequestInPart(socket);
    if (isInPart && (last === undefined || last.response.headersSent)) {
      // It has its response.
      socket.destroySoon();
    } else if (last === undefined || (isInPart && turns.length === 1)) {
      respond();
    } else if (isInPart) {
      last.start = respond;
    } else {
      last.response.once('close', respond);
    }
  }

  private respond(socket: Socket, error: ApiError, reason: string): void {
    if (socket.writable) {
      const { status } = error;
      const requestId = randomUUID();
      const body = JSON.stringify(error.body);
      const headers = {
        'Content-Type': 'application/json',
        'Content-Length': Buffer.byteLength(body),
        'X-Request-Id': requestId,
        ...SECURITY_HEADERS,
        ...error.headers,
        Connection: 'close',
      };
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
      socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`);
      this.byStatus.set(status, (this.byStatus.get(status) ?? 0) + 1);
      const { log } = this.host.httpAdapter.getInstance<FastifyInstance>();
      log.info({ requestId, status, address: socket.remoteAddress ?? 'unknown', reason }, 'refused');
    }
    socket.destroySoon();
  }
}

/** Whether the body of a request has not arrived whole. Node has no public way to a request that has its response. */
function isRequestInPart(socket: Socket): boolean {
  const { parser } = socket as Socket & { parser: { incoming: IncomingMessage | null } | null };
  return parser?.incoming?.complete === false;
}
