import fastJsonStringify, { type Schema } from 'fast-json-stringify';

/**
 * Returns a function that writes values as JSON by the JSON Schema of a response; bigints are exact. It is
 * compiled at its first use, because few are used soon after a start.
 */
export function jsonWriter(schema: object): (value: unknown) => string {
  let write: ((value: unknown) => string) | undefined;
  return (value) => (write ??= fastJsonStringify(schema as Schema))(value);
}
