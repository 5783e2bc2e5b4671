import type { DeclaredRoutes } from '../http/routes/declared-routes.js';
import type { Deprecation } from './rules/lifecycle.js';

/** A deprecated operation, as its route declares it. */
interface DeprecatedOperation extends Deprecation {
  operation: string;
  method: string;
  path: string;
}

/** Returns the deprecated operations of all routes. */
export function deprecatedOperations(routes: DeclaredRoutes): DeprecatedOperation[] {
  return routes.all.flatMap(({ operation, method, path, deprecation }) =>
    operation === undefined || deprecation === undefined ? [] : [{ operation, method, path, ...deprecation }],
  );
}
