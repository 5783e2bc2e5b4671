import { randomUUID } from 'node:crypto';
import { type IncomingMessage, maxHeaderSize, type Server, type ServerOptions } from 'node:http';
import type { FastifyHttpOptions, FastifyInstance } from 'fastify';
import type { Environment } from '../settings/environment.js';
import { routableTarget } from '../http/request-path.js';

/** The maximum time for a whole request to arrive, before 408. */
export const REQUEST_TIMEOUT_MS = 30_000;
/** The maximum time for its headers alone; Node takes the shorter of both. */
const HEADERS_TIMEOUT_MS = 20_000;
const TIMEOUT_CHECK_INTERVAL_MS = 5_000;
/**
 * The maximum time for which nothing moves on a connection with a request in flight. Longer than `REQUEST_TIMEOUT_MS`, so that a request
 * that does not arrive gets 408. Node may let it pass twice if the client has read a part.
 */
export const STANDSTILL_TIMEOUT_MS = 40_000;

/** A path parameter may be as long as all headers, so that the router rejects none. */
export const ROUTER_OPTIONS = { maxParamLength: maxHeaderSize };

/** The options of every server of this process. */
export const NODE_OPTIONS: ServerOptions = {
  // Node would respond to a missing Host without a body; nothing here reads it.
  requireHostHeader: false,
  headersTimeout: HEADERS_TIMEOUT_MS,
  requestTimeout: REQUEST_TIMEOUT_MS,
  connectionsCheckingInterval: TIMEOUT_CHECK_INTERVAL_MS,
};

/** Returns the options of the service's server. */
export function serverOptions({ TRUST_PROXY }: Pick<Environment, 'TRUST_PROXY'>): FastifyHttpOptions<Server> {
  return {
    genReqId: requestId,
    rewriteUrl: ({ url = '/' }) => routableTarget(url),
    routerOptions: ROUTER_OPTIONS,
    // Requests in transit when the server closes are served.
    return503OnClosing: false,
    http: NODE_OPTIONS,
    // Fastify reads these two only here.
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionTimeout: STANDSTILL_TIMEOUT_MS,
    ...(TRUST_PROXY !== undefined && {
      // Fastify's types have no number of hops; hop 0 is the peer of the connection.
      trustProxy:
        typeof TRUST_PROXY === 'number' ? (_address: string, hop: number) => hop < TRUST_PROXY : TRUST_PROXY,
    }),
  };
}

/** Sets what Node takes no option for: requests that it would respond to or cut off by itself reach the service. */
export function leaveNothingToNode(server: Server): void {
  // An unknown expectation may be ignored (RFC 9110, section 10.1.1); Node would respond 417.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  // Node would send 100 Continue before the request is allowed; `RequestBody` sends it.
  server.on('checkContinue', (request, response) => server.emit('request', request, response));
  // Node would drop headers beyond a number, such as a proxy's own; 16 KiB bound them all.
  server.maxHeadersCount = 0;
  // Node would close at a client's FIN, before it has the responses that it waits for. Node's types do not have this option.
  Object.assign(server, { httpAllowHalfOpen: true });
}

/** Stops Fastify from reading bodies before the guards run: `RequestBodies` collects them. */
export function leaveBodiesUnread(fastify: FastifyInstance): void {
  for (const method of fastify.supportedMethods) {
    fastify.addHttpMethod(method, { hasBody: false, overrideExisting: true });
  }
}

/** Without an API key sent by mistake, since the id is logged. */
const SANE = /^(?!.*sk_(live|test)_)[\w.:+/=@-]{1,128}$/;

/** Returns the client's own `X-Request-Id` if it is sane, else a new one. */
export function requestId(request: IncomingMessage): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && SANE.test(given) ? given : randomUUID();
}
