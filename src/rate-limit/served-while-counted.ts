import type { FastifyRequest } from 'fastify';
import { AddRouteConfig } from '../http/routes/route-config.decorator.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    isServedWhileCounted?: boolean;
  }
  interface FastifyRequest {
    /**
     * Of a read that is served while it is counted: resolves if it is allowed, and rejects if it is denied.
     * Null for any other request, and once the handler has waited for it.
     */
    pendingDecision: Promise<void> | null;
  }
}

/**
 * Lets a read run while it is counted, for an operation whose requests share their queries: serving a denied
 * one then costs nothing. The handler must return the data through `dataIfAllowed()`.
 */
export const ServedWhileCounted = () => AddRouteConfig({ isServedWhileCounted: true });

/**
 * Waits for the rate-limit decision, and returns the data if the request is allowed.
 *
 * @throws the error of a denied request, else that of the data.
 */
export async function dataIfAllowed<Data>(request: FastifyRequest, data: Promise<Data>): Promise<Data> {
  // An error of the data is thrown below, unless the request is denied.
  data.catch(() => {});
  await waitForDecision(request);
  return data;
}

/** Waits for the rate-limit decision. @throws the error of a denied request. */
export async function waitForDecision(request: FastifyRequest): Promise<void> {
  const { pendingDecision } = request;
  request.pendingDecision = null;
  await pendingDecision;
}
