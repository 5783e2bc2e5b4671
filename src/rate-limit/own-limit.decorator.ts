import { applyDecorators } from '@nestjs/common';
import { ApiExtension } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import type { Principal } from '../auth/principal.js';
import { operationName } from '../http/routes/request-line.js';
import type { DeclaredRoutes } from '../http/routes/declared-routes.js';
import { AddRouteConfig } from '../http/routes/route-config.decorator.js';
import { toNetwork } from '../http/rules/network.js';
import { revocationBucketKey, statusBucketKey } from './rules/bucket-key.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    ownLimit?: OwnLimit;
  }
  interface FastifyRequest {
    /** The limit that counted the request instead of the windows; null if these did. */
    ownLimit: OwnLimit | null;
  }
}

/** The reasons of 429s by such limits, as metrics name them. */
export const OWN_LIMIT_REASONS = ['rate_limit_status', 'key_revocation'] as const;

/**
 * A limit of requests within a UTC minute that take nothing from the windows of a quota, have no ban, and are
 * served while the quota is banned.
 */
export interface OwnLimit {
  reason: (typeof OWN_LIMIT_REASONS)[number];
  perMinute: number;
  bucketKey: (request: FastifyRequest, principal: Principal) => string;
  /** Returns whether a request, whose body has arrived, has this limit; by default all of the route have. */
  appliesTo?: (request: FastifyRequest) => boolean;
}

export const STATUS_LIMIT: OwnLimit = {
  reason: 'rate_limit_status',
  perMinute: 60,
  bucketKey: (_request, { quota }) => statusBucketKey(quota.id),
};

/**
 * The limit of requests that end a stolen key. It is that of one key, address and operation, because its
 * thief may send requests with it or another key of the quota, and must not use up the holder's.
 */
export const REVOCATION_LIMIT: OwnLimit = {
  reason: 'key_revocation',
  perMinute: 60,
  bucketKey: (request, { keyId }) =>
    revocationBucketKey(operationName(request), keyId, toNetwork(request.ip)),
};

export const HasOwnLimit = (ownLimit: OwnLimit): MethodDecorator =>
  applyDecorators(
    AddRouteConfig({ ownLimit }),
    ...(ownLimit.appliesTo === undefined ? [ApiExtension('x-counted', false)] : []),
  );

/** Returns the own limit of an authenticated request; null if it is counted in the windows. */
export function findOwnLimit(request: FastifyRequest): OwnLimit | null {
  const { ownLimit } = request.routeOptions.config;
  return ownLimit !== undefined && (ownLimit.appliesTo?.(request) ?? true) ? ownLimit : null;
}

/**
 * Returns the operations of which no request takes from the windows. The rotation of keys is not among them:
 * usage has one number for all its requests.
 */
export function uncountedOperations(routes: DeclaredRoutes): string[] {
  return routes.all.flatMap(({ operation, ownLimit }) =>
    operation === undefined || ownLimit === undefined || ownLimit.appliesTo !== undefined ? [] : [operation],
  );
}
