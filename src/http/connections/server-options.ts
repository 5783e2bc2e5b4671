import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server } from 'node:http';
import type { FastifyHttpOptions } from 'fastify';
import type { Environment } from '../../process/settings/environment.js';
import { ROUTER_OPTIONS } from '../routes/allowed-methods.js';
import type { Connections } from './connections.js';

export function serverOptions(
  { TRUST_PROXY }: Pick<Environment, 'TRUST_PROXY'>,
  connections: Connections,
): FastifyHttpOptions<Server> {
  return {
    serverFactory: (handle) => connections.createServer(handle),
    clientErrorHandler: (error, socket) => connections.refuseUnparsable(error, socket),
    genReqId: requestId,
    routerOptions: ROUTER_OPTIONS,
    // Requests in transit when the server closes are served.
    return503OnClosing: false,
    ...(TRUST_PROXY !== undefined && {
      // Fastify's types have no number of hops; hop 0 is the peer of the connection.
      trustProxy:
        typeof TRUST_PROXY === 'number' ? (_address: string, hop: number) => hop < TRUST_PROXY : TRUST_PROXY,
    }),
  };
}

/** The id is logged, so a text that contains an API key is rejected. */
const SANE = /^(?!.*sk_(live|test)_)[\w.:+/=@-]{1,128}$/;

/** Returns the client's own `X-Request-Id` if it is sane, else a new one. */
export function requestId(request: IncomingMessage): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && SANE.test(given) ? given : randomUUID();
}
