import type { Middleware } from 'openapi-fetch';

/**
 * Returns any value but a number that may have been rounded.
 *
 * @param name the field or parameter that has the value.
 * @throws RangeError for such a number.
 */
export function exactNumber(value: unknown, name: string): unknown {
  // The comparison is negated, because NaN compares false.
  if (typeof value === 'number' && !(Math.abs(value) <= Number.MAX_SAFE_INTEGER)) {
    throw new RangeError(`${name} is ${value}, which a number may have been rounded to: give a bigint`);
  }
  return value;
}

/**
 * Checks the parameters of every call, as `writeJson` does its body. An empty list is a RangeError too: it
 * would be sent as no parameter, and so name everything.
 */
export const exactParameters: Middleware = {
  onRequest: ({ params: { path, query } }) => {
    for (const [name, value] of Object.entries({ ...path, ...query })) {
      if (Array.isArray(value) && value.length === 0) {
        throw new RangeError(`${name} is empty: give at least one value, or leave it out`);
      }
      [value].flat().forEach((part) => exactNumber(part, name));
    }
  },
};
