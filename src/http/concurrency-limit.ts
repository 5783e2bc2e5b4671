import { Inject, Injectable, Logger } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ENVIRONMENT, type Environment } from '../environment.js';
import { ApiError } from '../errors/api-error.js';
import { whenAnswerEnds } from './end-of-answer.js';
import { operationOf } from './operation-of.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Its place among those that are served, set by `ConcurrencyLimit`; undefined until then. */
    place: Place | undefined;
  }
}

/** Of a request that is served. It is free when nothing is done for the request any more, and nothing waits to be sent. */
interface Place {
  load: OperationLoad;
  isAnswerMade: boolean;
  isAnswerEnded: boolean;
}

/** The log hears of an operation's overload once in so many milliseconds. */
const REPORT_INTERVAL_MS = 1000;
/** Made once, as there is no time to lose when it is told. */
const OVERLOADED = new ApiError('service_unavailable', 'This server is overloaded. Try again shortly.');

/** The requests of one operation. */
export interface OperationLoad {
  operation: string;
  /** How many are served now. */
  underWay: number;
  /** How many were sent away, since the start. */
  shed: number;
  /** When the log last heard of it. */
  reportedAtMs: number;
}

/**
 * How many requests of one operation are served at once. Who comes when there are as many as may be is told so at once: so
 * nobody who is served waits behind more than that many others, and an operation that is slow takes no place of another.
 */
@Injectable()
export class ConcurrencyLimit {
  private readonly logger = new Logger(ConcurrencyLimit.name);
  private readonly byOperation = new Map<string, OperationLoad>();

  constructor(
    @Inject(ENVIRONMENT) private readonly environment: Pick<Environment, 'MAX_CONCURRENT_REQUESTS'>,
  ) {}

  all(): OperationLoad[] {
    return [...this.byOperation.values()];
  }

  /**
   * Takes a request among those that are served, once however often it is asked to, until its answer is made, and sent or its
   * client gone: what was begun for who has gone goes on, and takes as much.
   *
   * @returns what it is told where there are as many as may be.
   */
  take(request: FastifyRequest, reply: FastifyReply): ApiError | null {
    if (request.place !== undefined) {
      return null;
    }
    const load = this.of(operationOf(request));
    if (load.underWay >= this.environment.MAX_CONCURRENT_REQUESTS) {
      load.shed += 1;
      this.report(load);
      return OVERLOADED;
    }
    const place = { load, isAnswerMade: false, isAnswerEnded: false };
    request.place = place;
    load.underWay += 1;
    whenAnswerEnds(reply.raw, () => {
      place.isAnswerEnded = true;
      leaveIfDone(place);
    });
    return null;
  }

  /** The answer of a request is made. */
  noteAnswer({ place }: FastifyRequest): void {
    if (place !== undefined && !place.isAnswerMade) {
      place.isAnswerMade = true;
      leaveIfDone(place);
    }
  }

  private of(operation: string): OperationLoad {
    let load = this.byOperation.get(operation);
    if (load === undefined) {
      load = { operation, underWay: 0, shed: 0, reportedAtMs: -Infinity };
      this.byOperation.set(operation, load);
    }
    return load;
  }

  private report(load: OperationLoad): void {
    const nowMs = performance.now();
    if (nowMs - load.reportedAtMs >= REPORT_INTERVAL_MS) {
      load.reportedAtMs = nowMs;
      const { operation, underWay, shed } = load;
      this.logger.warn(
        `Overloaded: ${underWay} of ${operation} are under way, ${shed} were sent away so far`,
      );
    }
  }
}

function leaveIfDone({ load, isAnswerMade, isAnswerEnded }: Place): void {
  if (isAnswerMade && isAnswerEnded) {
    load.underWay -= 1;
  }
}
