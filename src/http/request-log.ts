import { type FastifyReply, type FastifyRequest, LogController } from 'fastify';

/** Also where its first letter is an escape. */
const API_KEY = /sk_(live|test)_[0-9A-Za-z]+/g;

/** Logs one line for each request, when it is answered. */
export class RequestLog extends LogController {
  constructor() {
    super({ requestIdLogLabel: 'requestId' });
  }

  override incomingRequest(): void {
    // The line of the answer says all.
  }

  /** Never the query, nor a key that somebody put into the path. */
  override requestCompleted(
    error: Error | null | undefined,
    request: FastifyRequest,
    reply: FastifyReply,
  ): void {
    request.log.info(
      {
        method: request.method,
        path: request.url.split('?', 1)[0]?.replace(API_KEY, 'sk_$1_…'),
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime * 10) / 10,
        address: request.ip,
        ...(error && { err: error }),
      },
      'request',
    );
  }
}
