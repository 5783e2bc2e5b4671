import type { FastifyRequest } from 'fastify';
import { AddRouteConfig } from './route-config.decorator.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    isServedWhileCounted?: boolean;
  }
  interface FastifyRequest {
    /** Resolves once a read that is served while it is counted is allowed, and rejects if it is denied. Null once it was waited for. */
    pendingDecision: Promise<void> | null;
  }
}

/**
 * Lets a read run while it is counted, for an operation whose requests share their queries: a denied one then costs nothing. The
 * handler must wait by `whenAllowed()`.
 */
export const ServedWhileCounted = () => AddRouteConfig({ isServedWhileCounted: true });

/**
 * Returns the data of a request once the request is allowed too.
 *
 * @throws the error of a denied request, else that of the data.
 */
export async function whenAllowed<Data>(request: FastifyRequest, data: Promise<Data>): Promise<Data> {
  // Its error is thrown below, unless the request is denied.
  data.catch(() => {});
  await decided(request);
  return data;
}

/** @throws the error of a denied request. */
export async function decided(request: FastifyRequest): Promise<void> {
  const { pendingDecision } = request;
  request.pendingDecision = null;
  await pendingDecision;
}
