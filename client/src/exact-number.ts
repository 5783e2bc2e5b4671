/**
 * Returns a bigint, or a number that has all its digits, unchanged.
 *
 * @param name the field that has the value.
 * @throws RangeError for a number that may have been rounded.
 */
export function exactNumber<Value extends number | bigint>(value: Value, name: string): Value {
  // The comparison is negated, because NaN compares false.
  if (typeof value === 'number' && !(Math.abs(value) <= Number.MAX_SAFE_INTEGER)) {
    throw new RangeError(`${name} is ${value}, which a number may have been rounded to: give a bigint`);
  }
  return value;
}
