import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Inject, Injectable, Logger } from '@nestjs/common';
import type { FastifyInstance } from 'fastify';
import { ENVIRONMENT, type Environment } from '../settings/environment.js';
import { ApiError } from '../errors/api-error.js';
import { inTurn, pipelines } from './pipelining.js';
import { RefusedConnections } from './refused-connections.js';

/** The share of `SHUTDOWN_GRACE` after which no request is started, so that there is time to refuse them. */
const STARTING_SHARE = 0.7;
/** The share of `SHUTDOWN_GRACE` after which requests in flight are cut off; the rest is for work behind the requests. */
const RESPONDING_SHARE = 0.8;
/** The time for a first request that is in transit when the server closes. */
const UNUSED_GRACE_MS = 500;
/** The maximum of one process, beyond which an idle connection is closed for a new one. */
const MAX_CONNECTIONS = 10_000;

/** The error of a request that arrives too late in a shutdown. */
export const SHUTTING_DOWN = new ApiError(
  'service_unavailable',
  'This server is shutting down. Try again shortly.',
);

/**
 * Ends the connections of a server without losing a request, and without waiting for silent clients. While the service drains, every
 * response closes its connection. When the server closes, requests in flight and in transit are served; later, requests that have not
 * started get 503; finally, requests still in flight are cut off.
 */
@Injectable()
export class Connections {
  /** Whether the service is about to end, and should get no more requests. */
  isDraining = false;
  /** Requests that had arrived whole, and were cut off without a response. */
  cutOff = 0;
  private readonly refusing = new AbortController();
  /** Aborted when requests that have not started get `SHUTTING_DOWN`. */
  readonly startsNoMore = this.refusing.signal;
  private readonly logger = new Logger(Connections.name);
  /** Oldest first, as the oldest unused connection makes room for a new one. */
  private readonly sockets = new Set<Socket>();
  private drainingSinceMs = 0;

  constructor(
    @Inject(ENVIRONMENT) private readonly environment: Pick<Environment, 'SHUTDOWN_GRACE'>,
    private readonly refusedConnections: RefusedConnections,
  ) {}

  /** Bounds the connections of a server from now on, and ends them when it closes. */
  watch(fastify: FastifyInstance): void {
    // Node would close a connection as idle while its client still reads a response.
    fastify.server.closeIdleConnections = () => this.sockets.forEach((socket) => this.endOnceIdle(socket));
    fastify.server.on('connection', (socket) => {
      if (this.sockets.size >= MAX_CONNECTIONS) {
        const sockets = [...this.sockets];
        const closed = sockets.find(isUnused) ?? sockets.find(isIdle) ?? socket;
        this.sockets.delete(closed);
        closed.destroy();
      }
      this.sockets.add(socket);
      socket.once('close', () => this.sockets.delete(socket));
    });
    fastify.addHook('onRequest', (_request, { raw }, done) => {
      inTurn(raw, () => {
        this.closeIfLast(raw);
        done();
      });
    });
    fastify.addHook('preClose', async () => this.end());
  }

  /** While the service drains, adds `Connection: close` to a response, unless another request waits behind it. */
  closeIfLast(response: ServerResponse): void {
    if (this.isDraining && pendingResponses(response.req.socket).at(-1) === response) {
      response.shouldKeepAlive = false;
    }
  }

  /** Closes each connection after its last pending response, from now on. */
  drain(): void {
    this.isDraining = true;
    this.drainingSinceMs ||= performance.now();
    for (const socket of this.sockets) {
      pendingResponses(socket)
        .slice(0, 1)
        .forEach((running) => this.closeIfLast(running));
    }
  }

  private end(): void {
    this.drain();
    const drainedMs = performance.now() - this.drainingSinceMs;
    const leftMs = (share: number) => Math.max(0, this.environment.SHUTDOWN_GRACE * share - drainedMs);
    // Node waits for unused connections, and browsers open spare ones.
    setTimeout(() => this.refuse(isUnused), UNUSED_GRACE_MS).unref();
    setTimeout(() => this.startNoMore(), leftMs(STARTING_SHARE)).unref();
    setTimeout(() => this.cutAll(), leftMs(RESPONDING_SHARE)).unref();
  }

  private endOnceIdle(socket: Socket): void {
    const last = pendingResponses(socket).at(-1);
    if (last !== undefined) {
      last.once('close', () => this.endOnceIdle(socket));
    } else if (isIdle(socket)) {
      socket.destroySoon();
    }
  }

  /** Refuses requests that have arrived in part; those that arrive later, or wait for their turn, are refused then. */
  private startNoMore(): void {
    this.refusing.abort();
    this.refuse((socket) => socket.bytesRead > 0 && pendingResponses(socket).length === 0);
  }

  /** Ends connections, with 503 if a part of a request has arrived. */
  private refuse(isDue: (socket: Socket) => boolean): void {
    for (const socket of [...this.sockets].filter(isDue)) {
      if (socket.bytesRead > 0) {
        this.refusedConnections.refuse(socket, SHUTTING_DOWN, 'shutdown');
      }
      socket.destroySoon();
    }
  }

  private cutAll(): void {
    for (const socket of this.sockets) {
      // Only requests that have arrived whole, and whose response is not complete, are lost by this service.
      this.cutOff += pendingResponses(socket).filter(
        (each) => each.req.complete && !each.writableEnded,
      ).length;
      socket.destroy();
    }
    if (this.cutOff > 0) {
      this.logger.error(`Requests that the shutdown cut off: ${this.cutOff}`);
    }
  }
}

/** Returns the responses that are not sent whole, in their order. */
function pendingResponses(socket: Socket): ServerResponse[] {
  return (pipelines.get(socket)?.turns ?? []).map(({ response }) => response);
}

/** Returns whether no request has arrived on a connection. */
const isUnused = (socket: Socket): boolean => !pipelines.has(socket);

/** Returns whether a request has arrived on a connection, and everything that has arrived has its response. */
function isIdle(socket: Socket): boolean {
  const pipeline = pipelines.get(socket);
  return pipeline?.turns.length === 0 && pipeline.bytesRead === socket.bytesRead;
}
