import type { Quota } from '../../auth/principal.js';
import { toNetwork } from '../../http/rules/network.js';
import { addressBucketKey, quotaBucketKey } from './bucket-key.js';
import type { RateLimitRequest } from './rate-limit-decision.js';

export function clientBucketKey(quota: Pick<Quota, 'id'> | undefined, request: { ip: string }): string {
  // Fastify computes `ip` at each access.
  return quota === undefined ? addressBucketKey(toNetwork(request.ip)) : quotaBucketKey(quota.id);
}

export function clientLimits(
  quota: Pick<Quota, 'perMinute' | 'perDay'> | undefined,
  anonymousPerMinute: number,
): Pick<RateLimitRequest, 'perMinute' | 'perDay'> {
  return quota ?? { perMinute: anonymousPerMinute, perDay: null };
}
