import { ApiError } from '../../http/api-error.js';

/** What a client may rely on; `docs/versioning.md` defines each. */
export type Stability = 'stable' | 'beta' | 'experimental';

/** A deprecated operation. Its headers, its removal and all documents follow from this one declaration. */
export interface Deprecation {
  since: Date;
  /** From this instant, 00:00 UTC of a day, the operation returns 410. */
  removal: Date;
  /** Path and query of what to call instead, by the method of this operation. */
  replacement: string;
  /** A sentence for those whom the replacement alone does not serve, with the 410. */
  advice?: string;
  /** Path of the section that documents the deprecation. */
  docs: string;
}

/** What a route declares of its stability and its removal. */
interface Lifecycle {
  stability?: Stability;
  deprecation?: Deprecation;
}

declare module 'fastify' {
  interface FastifyContextConfig extends Lifecycle {}
}

/**
 * Returns `X-Stability` of an operation that is not stable, and `Deprecation` (RFC 9745), `Sunset` (RFC 8594)
 * and their links.
 */
export function lifecycleHeaders({ stability, deprecation }: Lifecycle): Record<string, string> {
  return {
    ...(stability !== undefined && stability !== 'stable' && { 'X-Stability': stability }),
    ...(deprecation !== undefined && {
      Deprecation: `@${Math.floor(deprecation.since.getTime() / 1000)}`,
      Sunset: deprecation.removal.toUTCString(),
      Link:
        `<${deprecation.replacement}>; rel="successor-version", <${deprecation.docs}>; ` +
        'rel="deprecation"; type="text/html"',
    }),
  };
}

/**
 * Returns the error of a request to an operation that is removed or not offered, else null.
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
  if (deprecation === undefined || nowMs < deprecation.removal.getTime()) {
    return null;
  }
  const { removal, replacement, advice } = deprecation;
  const removalDay = removal.toISOString().slice(0, 10);
  const successor = `${method === 'HEAD' ? 'GET' : method} ${replacement}`;
  const message = `This operation was removed on ${removalDay}. Use ${successor} instead.`;
  return new ApiError('endpoint_removed', advice === undefined ? message : `${message} ${advice}`);
}
