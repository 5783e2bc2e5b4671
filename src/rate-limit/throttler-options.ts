import type { ExecutionContext } from '@nestjs/common';
import type { ThrottlerModuleOptions } from '@nestjs/throttler';
import type { FastifyRequest } from 'fastify';
import type { Environment } from '../process/settings/environment.js';
import { DAY_MS, MINUTE_MS } from '../process/time-units.js';
import { clientBucketKey, clientLimits } from './rules/client.js';

export type WindowOptions = ReturnType<typeof throttlerOptions>;

/** Returns the windows of every request that needs a key: those of its quota, else of its address. */
export function throttlerOptions({ ANONYMOUS_LIMIT }: Pick<Environment, 'ANONYMOUS_LIMIT'>) {
  const limits = (context: ExecutionContext) => clientLimits(quotaOf(requestOf(context)), ANONYMOUS_LIMIT);
  return {
    // In the order of their length, into which the library sorts them.
    throttlers: [
      { name: 'minute', ttl: MINUTE_MS, limit: (context: ExecutionContext) => limits(context).perMinute },
      {
        name: 'day',
        ttl: DAY_MS,
        skipIf: (context: ExecutionContext) => limits(context).perDay === null,
        limit: (context: ExecutionContext) => limits(context).perDay!,
      },
    ],
    getTracker: (request: object) =>
      clientBucketKey(quotaOf(request as FastifyRequest), request as FastifyRequest),
    skipIf: (context: ExecutionContext) => requestOf(context).requiredRole === null,
  } as const satisfies Readonly<ThrottlerModuleOptions>;
}

/** `switchToHttp()` would create three functions at each call. */
const requestOf = (context: ExecutionContext) => context.getArgByIndex<FastifyRequest>(0);

const quotaOf = ({ authentication }: FastifyRequest) => authentication?.principal?.quota;
