import { ApiError } from '../errors/api-error.js';

/** What a client may rely on; `docs/versioning.md` says what each means. */
export type Stability = 'stable' | 'beta' | 'experimental';

/** A deprecated operation. Headers, the removal and all documents follow from this one declaration. */
export interface Deprecation {
  since: Date;
  /** From this instant, 00:00 UTC of a day, the operation answers 410. */
  removal: Date;
  /** Path and query of what to call instead, by the method of this operation. */
  replacement: string;
  /** Path of the section that documents the deprecation. */
  docs: string;
}

/** What a route declares of the time that it is there for. */
export interface Lifecycle {
  stability?: Stability;
  deprecation?: Deprecation;
}

declare module 'fastify' {
  interface FastifyContextConfig extends Lifecycle {}
}

/**
 * Returns why an operation is not there, or null where it is.
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
  return deprecation === undefined || nowMs < deprecation.removal.getTime()
    ? null
    : removalError(deprecation, method);
}

function removalError({ removal, replacement }: Deprecation, method: string): ApiError {
  // HEAD is answered as GET is.
  const successor = `${method === 'HEAD' ? 'GET' : method} ${replacement}`;
  return new ApiError(
    'endpoint_removed',
    `This operation was removed on ${removal.toISOString().slice(0, 10)}. Use ${successor} instead.`,
  );
}
