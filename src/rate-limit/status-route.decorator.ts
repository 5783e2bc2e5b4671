import { AddRouteConfig } from '../http/route-config.decorator.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** How often a quota may request this route within a UTC minute; undefined for routes that count against the quota's windows. */
    statusRequestsPerMinute?: number;
  }
}

/**
 * Declares a route that returns the rate-limit status of a quota. It takes nothing from the quota's windows, has a limit of its
 * own without a ban, and serves banned quotas too.
 */
export const StatusRoute = (perMinute: number) => AddRouteConfig({ statusRequestsPerMinute: perMinute });
