/**
 * Returns what a field for an integer sends: all its digits, nothing for an empty field, and any other text
 * as it is, so that the service says what is wrong with it.
 */
export function toInteger(text: string): bigint | undefined {
  const digits = text.trim();
  if (digits === '') {
    return undefined;
  }
  return /^-?\d+$/.test(digits) ? BigInt(digits) : (digits as unknown as bigint);
}
