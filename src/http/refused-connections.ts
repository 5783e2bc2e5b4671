import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyInstance } from 'fastify';
import type { ApiError } from '../errors/api-error.js';
import { answerConnect, answerParserError, type Refused } from './parser-error.js';
import { STANDSTILL_TIMEOUT_MS } from './server.js';

/** All that Node's HTTP parser is answered with. */
const STATUSES = [400, 408, 431];

/**
 * The connections that are closed as what came on them was no request, or did not come in time. No hook sees that, so it is counted
 * and logged here: one line each, as a request has.
 */
@Injectable()
export class RefusedConnections {
  /** How many were told each status. */
  readonly byStatus = new Map(STATUSES.map((status) => [status, 0]));
  private readonly refusals = new WeakMap<Socket, ApiError>();

  constructor(private readonly host: HttpAdapterHost<FastifyAdapter>) {}

  /** From now on CONNECT is refused in form. */
  watch(server: Server): void {
    server.on('connect', (_request, socket: Socket) => {
      // Node has let go of it: nobody else would hear of its end, or end it.
      socket.on('error', () => socket.destroy());
      socket.setTimeout(STANDSTILL_TIMEOUT_MS, () => socket.destroy());
      answerConnect(socket, this.note);
    });
  }

  /** Answers what Node's HTTP parser refuses. */
  answer(error: Error, socket: Socket): void {
    answerParserError(error, socket, this.note);
  }

  /** What a client was told while its request had not arrived whole, so that this is what became of it. */
  toldOn(socket: Socket): ApiError | undefined {
    return this.refusals.get(socket);
  }

  private readonly note = (socket: Socket, { refusal, reason, requestId }: Refused): void => {
    const { status } = refusal;
    this.refusals.set(socket, refusal);
    this.byStatus.set(status, (this.byStatus.get(status) ?? 0) + 1);
    const { log } = this.host.httpAdapter.getInstance<FastifyInstance>();
    log.info({ requestId, status, address: socket.remoteAddress ?? 'unknown', reason }, 'refused');
  };
}
