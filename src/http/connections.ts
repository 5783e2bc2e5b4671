import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Inject, Injectable, Logger } from '@nestjs/common';
import type { FastifyInstance } from 'fastify';
import { ENVIRONMENT, type Environment } from '../environment.js';
import { answersOwed, isUnused } from './pipelining.js';

/** Of `SHUTDOWN_GRACE`; the rest is for what is left to do without requests. */
const ANSWERING_SHARE = 0.8;
/** For a first request that may be on its way when the server closes. */
const UNUSED_GRACE_MS = 500;

/**
 * The connections of a server, so that it ends without losing a request, and without waiting for clients that keep silent.
 * First it drains: it listens and serves, and has clients leave with the answer that they get. Then it ends: what is under
 * way is answered, and what was on its way when it stopped to listen.
 */
@Injectable()
export class Connections {
  private readonly logger = new Logger(Connections.name);
  private readonly sockets = new Set<Socket>();
  private drainingSinceMs: number | null = null;
  private cut = 0;

  constructor(@Inject(ENVIRONMENT) private readonly environment: Pick<Environment, 'SHUTDOWN_GRACE'>) {}

  /** Whether the service is about to end, so that nobody should send it anything more. */
  get isDraining(): boolean {
    return this.drainingSinceMs !== null;
  }

  /** Requests that had arrived, and whose connection was cut before they were answered. */
  get cutOff(): number {
    return this.cut;
  }

  /** From now on every connection is known, and ends when the service closes. */
  watch(fastify: FastifyInstance): void {
    fastify.server.on('connection', (socket) => {
      this.sockets.add(socket);
      socket.once('close', () => this.sockets.delete(socket));
    });
    fastify.addHook('preClose', (done) => {
      this.end();
      done();
    });
  }

  /** While the service drains, an answer that is begun says `Connection: close`, unless another is owed behind it. */
  closeIfLast(answer: ServerResponse): void {
    if (this.isDraining && answersOwed(answer.req.socket).at(-1) === answer) {
      answer.shouldKeepAlive = false;
    }
  }

  /** From now on connections close behind the last answer that is owed on them. */
  drain(): void {
    this.drainingSinceMs ??= performance.now();
    for (const socket of this.sockets) {
      const [current] = answersOwed(socket);
      if (current !== undefined) {
        this.closeIfLast(current);
      }
    }
  }

  /** The server closes: ends soon what was never used, and in time for the rest of the shutdown what is left then. */
  private end(): void {
    this.drain();
    const drainedMs = performance.now() - (this.drainingSinceMs ?? 0);
    const graceMs = Math.max(0, this.environment.SHUTDOWN_GRACE * ANSWERING_SHARE - drainedMs);
    setTimeout(() => this.cutUnused(), UNUSED_GRACE_MS).unref();
    setTimeout(() => this.cutAll(), graceMs).unref();
  }

  /** Node waits for them, as browsers open connections to spare. */
  private cutUnused(): void {
    for (const socket of this.sockets) {
      if (isUnused(socket)) {
        socket.destroy();
      }
    }
  }

  private cutAll(): void {
    for (const socket of this.sockets) {
      // A request that has not arrived whole, or an answer that is not fetched, is left to its client.
      const owed = answersOwed(socket).filter(({ req, writableEnded }) => req.complete && !writableEnded);
      this.cut += owed.length;
      socket.destroy();
    }
    if (this.cut > 0) {
      this.logger.error(
        `Requests that were not answered in time for the shutdown, and are cut off: ${this.cut}`,
      );
    }
  }
}
