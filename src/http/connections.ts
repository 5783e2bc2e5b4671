import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Inject, Injectable, Logger } from '@nestjs/common';
import type { FastifyInstance } from 'fastify';
import { ENVIRONMENT, type Environment } from '../environment.js';
import { ApiError } from '../errors/api-error.js';
import { pipelines } from './pipelining.js';
import { RefusedConnections } from './refused-connections.js';

/** Of `SHUTDOWN_GRACE`; from then on no request is started, so that there is time to refuse them. */
const STARTING_SHARE = 0.7;
/** Of `SHUTDOWN_GRACE`; the rest is for what is left to do without requests. */
const RESPONDING_SHARE = 0.8;
/** For a first request that may be on its way when the server closes. */
const UNUSED_GRACE_MS = 500;
/** Of one process; beyond that an idle connection is closed for a new one. */
const MAX_CONNECTIONS = 10_000;

/** The response to a request that comes too late in a shutdown. */
export const SHUTTING_DOWN = new ApiError(
  'service_unavailable',
  'This server is shutting down. Try again shortly.',
);

/**
 * Ends the connections of a server without losing a request, and without waiting for silent clients. While the service drains, it
 * serves, and has clients leave with their response. When the server closes, requests in flight and those already sent are
 * served; later what has not been started gets 503, and at last what is still in flight is cut off.
 */
@Injectable()
export class Connections {
  /** Whether the service is about to end, so that no more requests should be sent to it. */
  isDraining = false;
  /** Requests that had arrived whole, and whose connection was cut before they had a response. */
  cutOff = 0;
  private readonly refusing = new AbortController();
  /** Aborted when no request is started any more. What has not been started then gets `SHUTTING_DOWN`. */
  readonly startsNoMore = this.refusing.signal;
  private readonly logger = new Logger(Connections.name);
  private readonly sockets = new Set<Socket>();
  private drainingSinceMs = 0;

  constructor(
    @Inject(ENVIRONMENT) private readonly environment: Pick<Environment, 'SHUTDOWN_GRACE'>,
    private readonly refusedConnections: RefusedConnections,
  ) {}

  /** Bounds the connections of a server from now on, and ends them when it closes. */
  watch(fastify: FastifyInstance): void {
    // Node would take a connection for idle, and cut it off, while its client still fetches a response.
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
    fastify.addHook('preClose', async () => this.end());
  }

  /** While the service drains, has the response say `Connection: close`, unless another request waits behind it. */
  closeIfLast(response: ServerResponse): void {
    if (this.isDraining && responsesOwed(response.req.socket).at(-1) === response) {
      response.shouldKeepAlive = false;
    }
  }

  /** Has connections close after the last response that they owe, from now on. */
  drain(): void {
    this.isDraining = true;
    this.drainingSinceMs ||= performance.now();
    for (const socket of this.sockets) {
      const [running] = responsesOwed(socket);
      if (running !== undefined) {
        this.closeIfLast(running);
      }
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
    const last = responsesOwed(socket).at(-1);
    if (last !== undefined) {
      last.once('close', () => this.endOnceIdle(socket));
    } else if (isIdle(socket)) {
      socket.destroySoon();
    }
  }

  /** Refuses what has not been started; what arrives later, or waits for its turn, is refused then. */
  private startNoMore(): void {
    this.refusing.abort();
    this.refuse((socket) => socket.bytesRead > 0 && responsesOwed(socket).length === 0);
  }

  /** Ends connections, with 503 where a part of a request's headers has arrived. */
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
      // A request that has not arrived whole, or a response that is not fetched, is not ours to finish.
      this.cutOff += responsesOwed(socket).filter((each) => each.req.complete && !each.writableEnded).length;
      socket.destroy();
    }
    if (this.cutOff > 0) {
      this.logger.error(
        `Requests that were not answered in time for the shutdown, and are cut off: ${this.cutOff}`,
      );
    }
  }
}

/** Returns the responses that are not sent, in their order. */
function responsesOwed(socket: Socket): ServerResponse[] {
  return (pipelines.get(socket)?.turns ?? []).map(({ response }) => response);
}

/** Whether no request has arrived on a connection. */
const isUnused = (socket: Socket): boolean => !pipelines.has(socket);

/** Whether all that has arrived on a connection, a request at least, has its response. */
function isIdle(socket: Socket): boolean {
  const pipeline = pipelines.get(socket);
  return pipeline?.turns.length === 0 && pipeline.bytesRead === socket.bytesRead;
}
