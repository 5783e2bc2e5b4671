import { hashApiKey } from '../../../src/auth/rules/api-key.js';

/**
 * Returns the forms of a key that must appear nowhere: the key, its SHA-256 in hexadecimal, base64 and
 * base64url, and as a JSON array of bytes. Its last four characters may be shown.
 */
function listForms(key: string): string[] {
  const hash = hashApiKey(key);
  return [
    key.slice(-38, -4),
    hash.toString('hex'),
    hash.toString('hex').toUpperCase(),
    hash.toString('base64').replace(/=+$/, ''),
    hash.toString('base64url'),
    [...hash].slice(0, 8).join(','),
  ];
}

/** Expects a text to contain none of these keys, in any form. */
export function expectNoSecrets(text: string, keys: readonly string[]): void {
  expect(keys.length).toBeGreaterThan(0);
  expect(keys.flatMap(listForms).filter((form) => text.includes(form))).toStrictEqual([]);
}
