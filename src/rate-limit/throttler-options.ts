import type { ExecutionContext } from '@nestjs/common';
import type { ThrottlerOptions } from '@nestjs/throttler';
import type { FastifyRequest } from 'fastify';
import type { Quota } from '../auth/principal.js';
import type { Environment } from '../process/settings/environment.js';
import { clientBucketKey, clientLimits } from './rules/client.js';
import { DAY_MS, MINUTE_MS } from '../process/time-units.js';
import type { WindowName } from './rules/windows.js';

interface Window extends ThrottlerOptions {
  name: WindowName;
  limit: (context: ExecutionContext) => number;
}

interface OptionalWindow extends Window {
  skipIf: (context: ExecutionContext) => boolean;
}

/** Options of `@nestjs/throttler` whose functions return no promise. */
export interface WindowOptions {
  /** In the order of their length, into which the library sorts them. */
  throttlers: [minute: Window, day: OptionalWindow];
  /** Returns the key of the bucket that a request counts in. */
  getTracker: (request: object) => string;
  /** Returns whether a request is not counted. */
  skipIf: (context: ExecutionContext) => boolean;
}

/** Returns the windows of every request that needs a key: those of its quota, else of its address. */
export function throttlerOptions({ ANONYMOUS_LIMIT }: Pick<Environment, 'ANONYMOUS_LIMIT'>): WindowOptions {
  const limits = (context: ExecutionContext) => clientLimits(findQuota(requestOf(context)), ANONYMOUS_LIMIT);
  return {
    throttlers: [
      { name: 'minute', ttl: MINUTE_MS, limit: (context) => limits(context).perMinute },
      {
        name: 'day',
        ttl: DAY_MS,
        skipIf: (context) => limits(context).perDay === null,
        limit: (context) => limits(context).perDay!,
      },
    ],
    getTracker: (request) => clientBucketKey(findQuota(request as FastifyRequest), request as FastifyRequest),
    skipIf: (context) => requestOf(context).requiredRole === null,
  };
}

/** Returns the request without `switchToHttp()`, which creates three functions at each call. */
function requestOf(context: ExecutionContext): FastifyRequest {
  return context.getArgByIndex<FastifyRequest>(0);
}

function findQuota({ authentication }: FastifyRequest): Quota | undefined {
  return authentication?.principal?.quota;
}
