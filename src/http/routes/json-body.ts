import { parse } from 'lossless-json';

const decoder = new TextDecoder('utf-8', { fatal: true });
const INTEGER = /^-?\d+$/;

/**
 * Parses a JSON text: integers become bigints, other numbers numbers. As with `JSON.parse`, the last value of
 * a repeated key counts, and `__proto__` is a key like any other.
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
    // Deep nesting is a RangeError, bad UTF-8 a TypeError.
    throw new SyntaxError(cause instanceof SyntaxError ? cause.message : 'not UTF-8, or nested too deeply', {
      cause,
    });
  }
}
