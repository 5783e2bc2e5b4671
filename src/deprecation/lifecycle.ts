import { ApiError } from '../errors/api-error.js';
import type { Deprecation } from './deprecated.decorator.js';
import { removalError } from './removal.js';
import type { Stability } from './stability.decorator.js';

/** What a route declares of the time that it is there for. */
export interface Lifecycle {
  stability?: Stability;
  deprecation?: Deprecation;
}

/**
 * Why an operation is not there, or null where it is.
 *
 * @param method of the request.
 * @param nowMs milliseconds since the Unix epoch.
 * @param offersExperimental whether this service has experimental operations.
 */
export function lifecycleError(
  { stability, deprecation }: Lifecycle,
  method: string,
  nowMs: number,
  offersExperimental: boolean,
): ApiError | null {
  if (stability === 'experimental' && !offersExperimental) {
    return new ApiError('not_found', 'This operation is experimental, and not offered in this environment.');
  }
  return deprecation === undefined ? null : removalError(deprecation, method, nowMs);
}
