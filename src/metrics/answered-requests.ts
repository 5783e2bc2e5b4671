import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Distribution } from '../distribution.js';
import { operationOf } from '../http/request-path.js';

/** From what a page takes to what a request waits for at the most. */
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** The requests of one operation that had one status. */
export interface Answered {
  operation: string;
  status: number;
  isDeprecated: boolean;
  seconds: Distribution;
}

/** Every request that was answered, by operation and status. In numbers of its own, as each request adds to them. */
@Injectable()
export class AnsweredRequests {
  private readonly byOperation = new Map<string, Map<number, Answered>>();

  /** Adds a request whose answer is made. */
  record(request: FastifyRequest, { statusCode, elapsedTime }: FastifyReply): void {
    const isDeprecated = request.routeOptions.config.deprecation !== undefined;
    this.of(operationOf(request), statusCode, isDeprecated).seconds.add(elapsedTime / 1000);
  }

  all(): Answered[] {
    return [...this.byOperation.values()].flatMap((byStatus) => [...byStatus.values()]);
  }

  private of(operation: string, status: number, isDeprecated: boolean): Answered {
    let byStatus = this.byOperation.get(operation);
    if (byStatus === undefined) {
      byStatus = new Map();
      this.byOperation.set(operation, byStatus);
    }
    let answered = byStatus.get(status);
    if (answered === undefined) {
      answered = { operation, status, isDeprecated, seconds: new Distribution(SECONDS) };
      byStatus.set(status, answered);
    }
    return answered;
  }
}
