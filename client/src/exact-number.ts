/**
 * A number that surely has all the digits it was given, or a bigint, as it is.
 *
 * @param name what it is the value of.
 * @throws RangeError
 */
export function exactNumber<Value extends number | bigint>(value: Value, name: string): Value {
  // Said so that NaN is refused, too.
  if (typeof value === 'number' && !(Math.abs(value) <= Number.MAX_SAFE_INTEGER)) {
    throw new RangeError(`${name} is ${value}, which a number may have been rounded to: give a bigint`);
  }
  return value;
}
