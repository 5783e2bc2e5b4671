import { type FastifyReply, type FastifyRequest, LogController } from 'fastify';

/** Also where its first letter is an escape. */
const API_KEY = /sk_(live|test)_[0-9A-Za-z]+/g;

/** No path of this service is longer; what is cut off would only fill the disk. */
const TOLD_PATH_LENGTH = 256;

/** What a proxy says of its client may be anything where `TRUST_PROXY` trusts one too many. */
const ADDRESS = /^[\da-f.:[\]]{2,64}$/i;

/** The path that was asked for as it may be told: without the query, and without a key that somebody put into it. */
export function pathToTell({ originalUrl }: Pick<FastifyRequest, 'originalUrl'>): string {
  const [path = ''] = originalUrl.split('?', 1);
  const shown = path.replace(API_KEY, 'sk_$1_…');
  return shown.length > TOLD_PATH_LENGTH ? `${shown.slice(0, TOLD_PATH_LENGTH)}…` : shown;
}

/** Logs one line for each request, when it is answered. */
export class RequestLog extends LogController {
  constructor() {
    super({ requestIdLogLabel: 'requestId' });
  }

  override incomingRequest(): void {
    // The line of the answer says all.
  }

  override requestCompleted(
    error: Error | null | undefined,
    request: FastifyRequest,
    reply: FastifyReply,
  ): void {
    request.log.info(
      {
        method: request.method,
        path: pathToTell(request),
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime * 10) / 10,
        address: ADDRESS.test(request.ip) ? request.ip : 'unknown',
        ...(error && { err: error }),
      },
      'request',
    );
  }
}
