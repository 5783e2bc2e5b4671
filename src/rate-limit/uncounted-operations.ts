import { declaredRouteConfigs } from '../http/route-config.decorator.js';

/** Returns the operations whose requests have a limit of their own, and take nothing from the windows. */
export function uncountedOperations(): string[] {
  return declaredRouteConfigs().flatMap(({ operation, statusRequestsPerMinute }) =>
    operation === undefined || statusRequestsPerMinute === undefined ? [] : [operation],
  );
}
