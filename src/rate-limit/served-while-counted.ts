import type { FastifyRequest } from 'fastify';
import { AddRouteConfig } from '../http/routes/route-config.decorator.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    isServedWhileCounted?: boolean;
  }
  interface FastifyRequest {
    /**
     * Of a read that is served while it is counted: resolves if it is allowed, and rejects if it is denied.
     * Null for any other request.
     */
    pendingDecision: Promise<void> | null;
  }
}

declare const allowed: unique symbol;
/** A response that has waited for the rate-limit decision. Only `ifAllowed()` makes one. */
export type Allowed<Body> = Body & { readonly [allowed]: true };

/** A handler whose response has waited. One that returns `any` may have forgotten to. */
type Read<Body = Allowed<unknown>> = (...args: never[]) => Promise<0 extends 1 & Body ? never : Body>;

/**
 * Lets a read run while it is counted, for an operation whose requests share their queries: serving a denied
 * one then costs nothing. Its handler must respond by `ifAllowed()`, else it does not compile.
 */
export const ServedWhileCounted = () =>
  AddRouteConfig({ isServedWhileCounted: true }) as <Handler extends Read>(
    prototype: object,
    name: string | symbol,
    descriptor: TypedPropertyDescriptor<Handler>,
  ) => void;

/**
 * Waits for the rate-limit decision and the data, and returns the response with the data.
 *
 * @throws the error of a denied request, else that of the data.
 */
export async function ifAllowed<Data, Body>(
  { pendingDecision }: FastifyRequest,
  data: Promise<Data>,
  respond: (data: Data) => Body | Promise<Body>,
): Promise<Allowed<Body>> {
  // An error of the data is thrown below, unless the request is denied.
  data.catch(() => {});
  await pendingDecision;
  return (await respond(await data)) as Allowed<Body>;
}
