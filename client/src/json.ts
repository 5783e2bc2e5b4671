import { parse, stringify } from 'lossless-json';

const INTEGER = /^-?\d+$/;

/**
 * Parses a JSON text in which integers are exact: a number where that holds all digits, else a bigint.
 *
 * @throws SyntaxError
 */
export function parseJson(text: string): unknown {
  return parse(text, null, (digits) => {
    const number = Number(digits);
    return INTEGER.test(digits) && !Number.isSafeInteger(number) ? BigInt(digits) : number;
  });
}

/** Writes JSON, a bigint as its digits. */
export function writeJson(value: unknown): string {
  return stringify(value) ?? 'null';
}
