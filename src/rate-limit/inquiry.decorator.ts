import { AddRouteConfig } from '../http/route-config.decorator.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** How often a quota may request this route within a UTC minute. Set where the route takes nothing from the quota. */
    inquiriesPerMinute?: number;
  }
}

/**
 * A route that tells where a quota stands, and takes nothing of it: it has a limit of its own, without a ban, and answers a
 * banned quota too.
 */
export const Inquiry = (perMinute: number) => AddRouteConfig({ inquiriesPerMinute: perMinute });
