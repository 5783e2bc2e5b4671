import { randomUUID } from 'node:crypto';
import { type IncomingMessage, maxHeaderSize, type Server, type ServerOptions } from 'node:http';
import type { FastifyHttpOptions, FastifyInstance } from 'fastify';
import type { Environment } from '../environment.js';
import { routableTarget } from './request-path.js';

/** For all of a request to arrive; then it is 408. */
export const REQUEST_TIMEOUT_MS = 30_000;
/** For its headers alone. Node takes the shorter of both for the headers, so this is never the longer. */
const HEADERS_TIMEOUT_MS = 20_000;
const TIMEOUT_CHECK_INTERVAL_MS = 5_000;
/**
 * For a connection on which nothing moves while a request is under way: its client does not fetch the answer. Longer than one may
 * take to arrive, as what stops to arrive is told so. Node may let it pass twice, where a part was fetched. Between two requests,
 * `keepAliveTimeout` tells how long a connection is kept.
 */
export const STANDSTILL_TIMEOUT_MS = 40_000;

/** A parameter of a path may be as long as all headers, so that the router refuses none. */
export const ROUTER_OPTIONS = { maxParamLength: maxHeaderSize };

/** Of every server that listens here. */
export const NODE_OPTIONS: ServerOptions = {
  // Node would answer a missing Host by itself, without a body.
  requireHostHeader: false,
  // Of two headers that must be one, Node would pass the first alone; so both are seen, and refused.
  joinDuplicateHeaders: true,
  headersTimeout: HEADERS_TIMEOUT_MS,
  requestTimeout: REQUEST_TIMEOUT_MS,
  connectionsCheckingInterval: TIMEOUT_CHECK_INTERVAL_MS,
};

/** How long a request may take to arrive, and that Node answers nothing in words of its own. */
export function serverOptions({ TRUST_PROXY }: Pick<Environment, 'TRUST_PROXY'>): FastifyHttpOptions<Server> {
  return {
    genReqId: requestId,
    rewriteUrl: ({ url = '/' }) => routableTarget(url),
    routerOptions: ROUTER_OPTIONS,
    // What was on its way when the server closed is served.
    return503OnClosing: false,
    http: NODE_OPTIONS,
    // Fastify has these two from here alone.
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionTimeout: STANDSTILL_TIMEOUT_MS,
    ...trustProxy(TRUST_PROXY),
  };
}

/** The same, as far as only a server that is made can be told. */
export function leaveNothingToNode(server: Server): void {
  // An expectation that is not known may be ignored (RFC 9110, section 10.1.1); Node would answer 417 by itself.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  // Node would send 100 Continue before the request is allowed; `RequestBody` sends it.
  server.on('checkContinue', (request, response) => server.emit('request', request, response));
  // Node would leave out those past a number of them, such as a proxy's own; 16 KiB limit them all.
  server.maxHeadersCount = 0;
  // Node would close at a client's FIN, before it has the responses that it waits for. Node's types do not have this option.
  Object.assign(server, { httpAllowHalfOpen: true });
}

/** Has Fastify read no body, as it would do so before the guards run: `RequestBodies` collects them. */
export function leaveBodiesUnread(fastify: FastifyInstance): void {
  for (const method of fastify.supportedMethods) {
    fastify.addHttpMethod(method, { hasBody: false, overrideExisting: true });
  }
}

/** Fastify's types know no number of hops; a function says the same: hop 0 is who connects to us. */
function trustProxy(setting: Environment['TRUST_PROXY']): Pick<FastifyHttpOptions<Server>, 'trustProxy'> {
  if (setting === undefined) {
    return {};
  }
  return { trustProxy: typeof setting === 'number' ? (_address, hop) => hop < setting : setting };
}

/** Nor is a key sane that somebody put there by mistake: the id is logged. */
const SANE = /^(?!.*sk_(live|test)_)[\w.:+/=@-]{1,128}$/;

/** The client's own `X-Request-Id` when it is sane, so that both sides' logs meet; else a new one. */
export function requestId(request: IncomingMessage): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && SANE.test(given) ? given : randomUUID();
}
