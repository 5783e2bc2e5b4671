import { parse } from 'lossless-json';

const decoder = new TextDecoder('utf-8', { fatal: true });
const INTEGER = /^-?\d+$/;

/**
 * Parses a JSON text in which integers are exact: each becomes a bigint, every other number a number. Of a
 * repeated key the last value counts, and `__proto__` is a key like any other, as with `JSON.parse`.
 *
 * @throws SyntaxError when the bytes are not UTF-8 or not JSON.
 */
export function parseJsonBody(bytes: Buffer): unknown {
  try {
    return parse(decoder.decode(bytes), null, {
      parseNumber: (text) => (INTEGER.test(text) ? BigInt(text) : Number(text)),
      onDuplicateKey: ({ newValue }) => newValue,
    });
  } catch (cause) {
    // Too deep a nesting ends in a RangeError, bad UTF-8 in a TypeError: all mean the same to the client.
    throw new SyntaxError(cause instanceof SyntaxError ? cause.message : 'not UTF-8, or nested too deeply', {
      cause,
    });
  }
}
