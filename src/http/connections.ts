import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Inject, Injectable, Logger } from '@nestjs/common';
import type { FastifyInstance } from 'fastify';
import { ENVIRONMENT, type Environment } from '../environment.js';
import { whenAnswerEnds } from './end-of-answer.js';

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
  private server: Server | null = null;
  /** Connections on which no request has arrived yet. Node waits for them, as browsers open them to spare. */
  private readonly unused = new Set<Socket>();
  private readonly answers = new Set<ServerResponse>();
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
    const { server } = fastify;
    this.server = server;
    server.on('connection', (socket) => {
      this.unused.add(socket);
      socket.once('close', () => this.unused.delete(socket));
    });
    // Before all others who hear of it: they may begin the answer in the same turn.
    server.prependListener('request', ({ socket }, answer) => {
      this.unused.delete(socket);
      this.answers.add(answer);
      whenAnswerEnds(answer, () => this.answers.delete(answer));
      answer.shouldKeepAlive &&= !this.isDraining;
    });
    fastify.addHook('preClose', (done) => {
      this.end();
      done();
    });
  }

  /** From now on every answer says `Connection: close`, also to what is under way. */
  drain(): void {
    this.drainingSinceMs ??= performance.now();
    for (const answer of this.answers) {
      answer.shouldKeepAlive = false;
    }
  }

  /** The server closes: ends soon what was never used, and in time for the rest of the shutdown what is left then. */
  private end(): void {
    this.drain();
    const drainedMs = performance.now() - (this.drainingSinceMs ?? 0);
    const graceMs = Math.max(0, this.environment.SHUTDOWN_GRACE * ANSWERING_SHARE - drainedMs);
    setTimeout(() => this.unused.forEach((socket) => socket.destroy()), UNUSED_GRACE_MS).unref();
    setTimeout(() => this.cutAll(), graceMs).unref();
  }

  private cutAll(): void {
    // A request that has not arrived whole, or an answer that is not fetched, is left to its client.
    this.cut = [...this.answers].filter(({ req, writableEnded }) => req.complete && !writableEnded).length;
    if (this.cut > 0) {
      this.logger.error(
        `Requests that were not answered in time for the shutdown, and are cut off: ${this.cut}`,
      );
    }
    this.server?.closeAllConnections();
  }
}
