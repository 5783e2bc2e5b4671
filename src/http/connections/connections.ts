import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyBaseLogger } from 'fastify';
import { METHODS } from '../routes/allowed-methods.js';
import { ApiError } from '../routes/api-error.js';
import type { MetricsRegistry, MetricsSource } from '../../process/metrics-registry.js';
import type { Environment } from '../../process/settings/environment.js';
import { errorResponse, parserError } from './parser-errors.js';
import { addressText } from '../rules/network.js';

const OPTIONS = {
  // Node would respond to a missing Host without a body; nothing here reads it.
  requireHostHeader: false,
  // Late requests get 408.
  headersTimeout: 20_000,
  requestTimeout: 30_000,
  connectionsCheckingInterval: 1_000,
};
/** The time for which nothing may move on a connection with a request in flight. */
const STANDSTILL_TIMEOUT_MS = 40_000;
/** The bounds of one process, and of one connection. */
const LIMITS = { connections: 10_000, unreadBytes: 64 * 1024 * 1024, inFlightPerConnection: 32 };
/** The share of `SHUTDOWN_GRACE` after which requests that have not started get 503. */
const STARTING_SHARE = 0.7;
/** The share after which requests in flight are cut off; the rest is for work behind them. */
const RESPONDING_SHARE = 0.8;

export const SHUTTING_DOWN = new ApiError(
  'service_unavailable',
  'This server is shutting down. Try again shortly.',
);

const NO_PROXY = new ApiError(
  'method_not_allowed',
  'This server is no proxy, so it does not allow CONNECT.',
  { headers: { Allow: METHODS } },
);

interface Connection {
  /** The responses that are not sent whole. */
  readonly pending: ServerResponse[];
  /** The last request with a response, while its body has not arrived whole; else null. */
  unfinished: IncomingMessage | null;
  /** The bytes read when the last response was sent; further ones are a part of a request. */
  bytesRead: number;
  /** Whether it closes after an error, so that whatever follows is not read. */
  isRefused: boolean;
}

/**
 * Bounds what connections hold: their number, the requests in flight on each, and the bytes of all responses
 * that clients have not read. Ends them in a shutdown without losing a request: while the service drains, the
 * last response closes its connection. After `server.close()` requests in flight are served; later, requests
 * that have not started get 503; finally, the rest is cut off.
 */
export class Connections implements MetricsSource {
  isDraining = false;
  cutOff = 0;
  /** How many connections were closed by each bound. */
  readonly closedByBound = { connections: 0, unread_bytes: 0, pipelined: 0 };
  /** How many connections were ended by each status: of the parser, of CONNECT (405), of a shutdown (503). */
  readonly errorsByStatus = new Map([400, 405, 408, 431, 503].map((status) => [status, 0]));
  private readonly refusal = new AbortController();
  /** Aborted when requests that have not started get `SHUTTING_DOWN`. */
  readonly refusing = this.refusal.signal;
  private isClosing = false;
  /** The oldest first. */
  private readonly connections = new Map<Socket, Connection>();
  /** The unread bytes of responses, the oldest first. */
  private readonly unread = new Map<ServerResponse, number>();
  private unreadBytes = 0;
  /**
   * How many requests of each connection have started in this turn of the event loop. The client sent them
   * without waiting, so they are in flight together, even if each has its response before the next is parsed.
   */
  private readonly startedInTurn = new Map<Connection, number>();

  constructor(
    private readonly environment: Pick<Environment, 'KEEP_ALIVE_TIMEOUT' | 'SHUTDOWN_GRACE'>,
    private readonly log: Pick<FastifyBaseLogger, 'info' | 'error'>,
    private readonly limits = LIMITS,
  ) {}

  addMetrics(metrics: MetricsRegistry): void {
    metrics.counter('connection_errors_total', 'Connections ended by an error.', ['status'], () =>
      [...this.errorsByStatus].map(([status, count]) => [count, String(status)]),
    );
    metrics.counter('connections_closed_total', 'Connections closed beyond a bound.', ['reason'], () =>
      Object.entries(this.closedByBound).map(([bound, count]) => [count, bound]),
    );
  }

  createServer(handle: RequestListener): Server {
    const closeIfLast = (response: ServerResponse) => this.closeIfLast(response);
    const countUnread = (response: ServerResponse) => this.countUnread(response);
    class Response extends ServerResponse {
      override writeHead(...parts: unknown[]): this {
        closeIfLast(this);
        return super.writeHead(...(parts as [number]));
      }
      override end(...parts: unknown[]): this {
        super.end(...(parts as [unknown]));
        countUnread(this);
        return this;
      }
    }
    const keepAliveTimeout = this.environment.KEEP_ALIVE_TIMEOUT;
    const options = { ...OPTIONS, keepAliveTimeout, ServerResponse: Response };
    const server = createServer(options, (request, response) => {
      if (this.start(response)) {
        handle(request, response);
      }
    });
    server.setTimeout(STANDSTILL_TIMEOUT_MS);
    server.on('connection', (socket) => this.add(socket));
    // An unknown expectation may be ignored (RFC 9110, section 10.1.1); Node would respond 417 without a
    // body.
    server.on('checkExpectation', (request, response) => server.emit('request', request, response));
    // Node would close the connection without a response, and without those before.
    server.on('connect', (_request, socket) => this.refuse(socket as Socket, NO_PROXY, 'CONNECT'));
    // Node would close a connection while its client reads a response.
    server.closeIdleConnections = () => this.closeIdle();
    // Node would close at a client's FIN, before the responses; its types lack this option.
    return Object.assign(server, { httpAllowHalfOpen: true });
  }

  /** From now on closes each connection after its last response. */
  drain(): void {
    if (!this.isDraining) {
      this.isDraining = true;
      const { SHUTDOWN_GRACE } = this.environment;
      setTimeout(() => this.refuseUnstarted(), SHUTDOWN_GRACE * STARTING_SHARE).unref();
      setTimeout(() => this.cutAll(), SHUTDOWN_GRACE * RESPONDING_SHARE).unref();
    }
  }

  /** Ends a connection by the response to an error of Node's parser. */
  refuseUnparsable(error: Error & { code?: string }, socket: Socket): void {
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && socket.bytesRead === 0) {
      // Go's clients keep unused connections as idle ones; a response would fail the next request on it.
      socket.setTimeout(this.environment.KEEP_ALIVE_TIMEOUT);
      return;
    }
    this.refuse(socket, parserError(error), error.message);
  }

  private add(socket: Socket): void {
    if (this.connections.size >= this.limits.connections) {
      const idle = this.findIdle();
      this.destroy(idle ?? socket, 'connections');
      if (idle === undefined) {
        return;
      }
    }
    this.connections.set(socket, { pending: [], unfinished: null, bytesRead: 0, isRefused: false });
    socket.once('close', () => this.remove(socket));
  }

  private findIdle(): Socket | undefined {
    for (const [socket, { pending }] of this.connections) {
      if (pending.length === 0) {
        return socket;
      }
    }
    return undefined;
  }

  private remove(socket: Socket): void {
    this.connections.get(socket)?.pending.forEach((response) => this.forgetUnread(response));
    this.connections.delete(socket);
  }

  /** Drops the responses too, which an orderly close would leave to the operating system. */
  private destroy(socket: Socket, bound: keyof Connections['closedByBound']): void {
    this.closedByBound[bound] += 1;
    this.remove(socket);
    socket.resetAndDestroy();
  }

  /**
   * Returns whether a request is served. Node parses all that it has read of a connection, so requests behind
   * the one that closes it arrive here too, and should cost little.
   */
  private start(response: ServerResponse): boolean {
    const { socket } = response.req;
    const connection = this.connections.get(socket);
    // Whatever follows `Connection: close` is no request (RFC 9112, section 9.6).
    if (connection === undefined || connection.pending.at(-1)?.shouldKeepAlive === false) {
      return false;
    }
    if (this.startedInTurn.size === 0) {
      setImmediate(() => this.startedInTurn.clear());
    }
    const started = this.startedInTurn.get(connection) ?? 0;
    if (Math.max(connection.pending.length, started) >= this.limits.inFlightPerConnection) {
      this.destroy(socket, 'pipelined');
      return false;
    }
    this.startedInTurn.set(connection, started + 1);
    connection.pending.push(response);
    response.once('close', () => this.onSent(response, connection));
    return true;
  }

  private onSent(response: ServerResponse, connection: Connection): void {
    const { req } = response;
    connection.pending.splice(connection.pending.indexOf(response), 1);
    connection.unfinished = req.complete ? null : req;
    connection.bytesRead = req.socket.bytesRead;
    this.forgetUnread(response);
    if (this.isClosing && connection.pending.length === 0) {
      req.socket.destroySoon();
    }
  }

  /** Counts a complete response until the operating system has all of it, which is mostly at once. */
  private countUnread(response: ServerResponse): void {
    const bytes = response.writableLength;
    if (bytes === 0 || this.unread.has(response) || !this.connections.has(response.req.socket)) {
      return;
    }
    this.unread.set(response, bytes);
    this.unreadBytes += bytes;
    for (const oldest of this.unread.keys()) {
      if (this.unreadBytes <= this.limits.unreadBytes) {
        break;
      }
      this.destroy(oldest.req.socket, 'unread_bytes');
    }
  }

  private forgetUnread(response: ServerResponse): void {
    this.unreadBytes -= this.unread.get(response) ?? 0;
    this.unread.delete(response);
  }

  /** While the service drains, adds `Connection: close` to the last response of a connection. */
  private closeIfLast(response: ServerResponse): void {
    if (this.isDraining && this.connections.get(response.req.socket)?.pending.at(-1) === response) {
      response.shouldKeepAlive = false;
    }
  }

  private closeIdle(): void {
    this.drain();
    this.isClosing = true;
    for (const [socket, connection] of this.connections) {
      if (connection.pending.length === 0 && !hasPart(socket, connection)) {
        socket.destroySoon();
      }
    }
  }

  private refuseUnstarted(): void {
    this.refusal.abort();
    for (const [socket, connection] of this.connections) {
      if (connection.pending.length === 0 && hasPart(socket, connection)) {
        this.refuse(socket, SHUTTING_DOWN, 'shutdown');
      }
    }
  }

  /** Closes a connection with this response, after the responses to all requests that have arrived whole. */
  private refuse(socket: Socket, error: ApiError, reason: string): void {
    const connection = this.connections.get(socket);
    // The parser fails again on all that follows.
    if (connection === undefined || connection.isRefused) {
      return;
    }
    connection.isRefused = true;
    const last = connection.pending.at(-1);
    const failed = last?.req.complete === false ? last : undefined;
    const before = failed === undefined ? last : connection.pending.at(-2);
    const respond = () => {
      const hasResponse = failed?.headersSent === true || connection.unfinished?.complete === false;
      if (!hasResponse && socket.writable) {
        const { requestId, bytes } = errorResponse(error);
        socket.write(bytes);
        this.errorsByStatus.set(error.status, (this.errorsByStatus.get(error.status) ?? 0) + 1);
        const clientAddress = addressText(socket.remoteAddress ?? '');
        this.log.info({ requestId, status: error.status, clientAddress, reason }, 'rejected');
      }
      socket.destroySoon();
    };
    if (before === undefined) {
      respond();
    } else {
      before.once('close', respond);
    }
  }

  private cutAll(): void {
    for (const [socket, { pending }] of this.connections) {
      // Only requests that arrived whole and have no response are lost.
      this.cutOff += pending.filter(({ req, writableEnded }) => req.complete && !writableEnded).length;
      socket.destroy();
    }
    if (this.cutOff > 0) {
      this.log.error(`Requests that the shutdown cut off: ${this.cutOff}`);
    }
  }
}

/** Whether a part of a request has arrived after the last response. */
function hasPart(socket: Socket, { bytesRead }: Connection): boolean {
  return socket.bytesRead > bytesRead;
}
