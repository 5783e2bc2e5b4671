import fastJsonStringify, { type Schema } from 'fast-json-stringify';

/**
 * Returns a function that writes values by the JSON Schema of a response; bigints are exact. It is compiled
 * at its first use, because few are used soon after a start. An array, such as the page of a list, is written
 * once for all responses that share it.
 */
export function jsonWriter(schema: object): (value: unknown) => string {
  let write: ((value: unknown) => string) | undefined;
  const written = new WeakMap<unknown[], string>();
  return (value) => {
    write ??= fastJsonStringify(schema as Schema);
    if (!Array.isArray(value)) {
      return write(value);
    }
    const text = written.get(value) ?? write(value);
    written.set(value, text);
    return text;
  };
}
