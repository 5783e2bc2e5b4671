import type { FastifyRequest } from 'fastify';
import { AddRouteConfig } from '../http/routes/route-config.decorator.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    isServedWhileCounted?: boolean;
  }
  interface FastifyRequest {
    /** Resolves if a read that is served while it is counted is allowed, else rejects; null for others. */
    pendingDecision: Promise<void> | null;
  }
}

declare const allowed: unique symbol;
/** A response that has waited for the rate-limit decision. Only `ifAllowed()` makes one. */
export type Allowed<Body> = Body & { readonly [allowed]: true };

/** A handler whose response has waited, so not one that returns `any`. */
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

/** Waits for the decision and the data. @throws the error of a denied request, else that of the data. */
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
