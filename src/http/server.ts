import type { Server, ServerOptions } from 'node:http';
import type { FastifyHttpOptions } from 'fastify';
import type { Environment } from '../environment.js';
import { requestId } from './request-id.js';

const BODY_LIMIT_BYTES = 64 * 1024;
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

/** How much of a request is read and how long it may take, and that Node answers nothing in words of its own. */
export function serverOptions({ TRUST_PROXY }: Pick<Environment, 'TRUST_PROXY'>): FastifyHttpOptions<Server> {
  return {
    genReqId: requestId,
    bodyLimit: BODY_LIMIT_BYTES,
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
  // Node would leave out those past a number of them, such as a proxy's own; 16 KiB limit them all.
  server.maxHeadersCount = 0;
}

/** Fastify's types know no number of hops; a function says the same: hop 0 is who connects to us. */
function trustProxy(setting: Environment['TRUST_PROXY']): Pick<FastifyHttpOptions<Server>, 'trustProxy'> {
  if (setting === undefined) {
    return {};
  }
  return { trustProxy: typeof setting === 'number' ? (_address, hop) => hop < setting : setting };
}
