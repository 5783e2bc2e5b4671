import type { DeclaredRoutes } from '../http/routes/declared-routes.js';

export function deprecatedOperations(routes: DeclaredRoutes) {
  return routes.all.flatMap(({ operation, method, path, deprecation }) =>
    operation === undefined || deprecation === undefined ? [] : [{ operation, method, path, ...deprecation }],
  );
}
