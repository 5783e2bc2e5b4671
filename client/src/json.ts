import { parse, stringify } from 'lossless-json';
import { exactNumber } from './exact-number.js';

const INTEGER = /^-?\d+$/;

/**
 * Parses JSON with exact integers: a number if that holds all digits, else a bigint.
 *
 * @throws SyntaxError
 */
export function parseJson(text: string): unknown {
  return parse(text, null, (digits) => {
    const number = Number(digits);
    return INTEGER.test(digits) && !Number.isSafeInteger(number) ? BigInt(digits) : number;
  });
}

/**
 * Returns JSON, with a bigint as its digits.
 *
 * @throws RangeError for a number that may have been rounded.
 */
export function writeJson(value: unknown): string {
  return stringify(value, (name, part) => exactNumber(part, name)) ?? 'null';
}
