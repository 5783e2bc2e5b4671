import { ApiError } from '../../http/routes/api-error.js';
import { parseInt64 } from '../../schemas/int64.js';

/** What a client may rely on; `docs/versioning.md` defines each. */
export type Stability = 'stable' | 'beta' | 'experimental';

export interface Deprecation {
  since: Date;
  /** From this instant, 00:00 UTC of a day, the operation returns 410. */
  removal: Date;
  /**
   * Path and query of each operation to call instead, by the same method, the nearest first. It may name a
   * path parameter of the deprecated operation, such as `{petId}`, which is an integer.
   */
  successors: readonly string[];
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

type PathParameters = Readonly<Record<string, string>>;

/** Returns the successors of a request, without those for which its path parameter is not an int64. */
function successorPaths({ successors }: Deprecation, parameters: PathParameters): string[] {
  return successors.flatMap((successor) => {
    const [placeholder, name = ''] = /\{(\w+)\}/.exec(successor) ?? [];
    if (placeholder === undefined) {
      return successor;
    }
    const value = parseInt64(parameters[name] ?? '');
    return value === null ? [] : successor.replace(placeholder, String(value));
  });
}

/** Returns `X-Stability` if it is not stable, `Deprecation` (RFC 9745) and `Sunset` (RFC 8594). */
export function lifecycleHeaders({ stability, deprecation }: Lifecycle): Record<string, string> {
  return {
    ...(stability !== undefined && stability !== 'stable' && { 'X-Stability': stability }),
    ...(deprecation !== undefined && {
      Deprecation: `@${Math.floor(deprecation.since.getTime() / 1000)}`,
      Sunset: deprecation.removal.toUTCString(),
    }),
  };
}

/**
 * Returns the links of a deprecated operation to its successors and to the documentation of its deprecation
 * (RFC 9745, section 3) and of its removal (RFC 8594, section 6), for `Link`.
 */
export function deprecationLinks(deprecation: Deprecation, parameters: PathParameters): string {
  return [
    ...successorPaths(deprecation, parameters).map((path) => `<${path}>; rel="successor-version"`),
    ...['deprecation', 'sunset'].map((rel) => `<${deprecation.docs}>; rel="${rel}"; type="text/html"`),
  ].join(', ');
}

/**
 * Returns the error of a request to an operation that is removed or not offered, else null.
 *
 * @param nowMs milliseconds since the Unix epoch.
 */
export function lifecycleError(
  { stability, deprecation }: Lifecycle,
  { method, parameters = {} }: { method: string; parameters?: PathParameters },
  nowMs: number,
  service: { offersExperimental: boolean; publicPrefix: string },
): ApiError | null {
  if (stability === 'experimental' && !service.offersExperimental) {
    return new ApiError('not_found', 'This operation is experimental, and not offered in this environment.');
  }
  if (deprecation === undefined || nowMs < deprecation.removal.getTime()) {
    return null;
  }
  const removalDay = deprecation.removal.toISOString().slice(0, 10);
  const successors = successorPaths(deprecation, parameters)
    .map((path) => `${method === 'HEAD' ? 'GET' : method} ${service.publicPrefix}${path}`)
    .join(' or ');
  const message = `This operation was removed on ${removalDay}. Use ${successors} instead.`;
  return new ApiError('endpoint_removed', message);
}
