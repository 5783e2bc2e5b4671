import { createHash } from 'node:crypto';
import { generateApiKey, hashApiKey, findKeyProblem, keyHints } from './api-key.js';

const BASE_62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

// Checksums computed with Python: zlib.crc32 of all before it, in base 62, most significant digit first.
const STAGING_KEY = 'ask_test_zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz04cBps';
const PRODUCTION_KEY = 'ask_live_0123456789ABCDEFGHIJKLMNOPQRSTUV0YuuGW';

describe('an API key', () => {
  it.each([
    ['staging', 'ask_test_'],
    ['production', 'ask_live_'],
  ] as const)(
    'consists for %s of %s, 32 random base-62 characters and a 6-character checksum',
    (environment, prefix) => {
      const keys = Array.from({ length: 200 }, () => generateApiKey(environment));
      for (const key of keys) {
        expect(key).toMatch(new RegExp(`^${prefix}[0-9A-Za-z]{38}$`));
        expect(findKeyProblem(key, environment)).toBeNull();
      }
      expect(new Set(keys).size).toBe(keys.length);
      expect(new Set(keys.map((key) => key.slice(9, 41)).join(''))).toEqual(new Set(BASE_62));
    },
  );

  it('has the checksum that another implementation of CRC-32 computes', () => {
    expect(findKeyProblem(STAGING_KEY, 'staging')).toBeNull();
    expect(findKeyProblem(PRODUCTION_KEY, 'production')).toBeNull();
  });

  it('is invalid in the other environment', () => {
    expect(findKeyProblem(STAGING_KEY, 'production')).toBe('other_environment');
    expect(findKeyProblem(PRODUCTION_KEY, 'staging')).toBe('other_environment');
  });

  it('has a checksum of its prefix too: with the prefix of the other environment it is malformed', () => {
    expect(findKeyProblem(STAGING_KEY.replace('ask_test_', 'ask_live_'), 'production')).toBe('malformed');
  });

  it('is malformed when any single character is replaced', () => {
    const key = generateApiKey('staging');
    const undetected: string[] = [];
    for (let position = 0; position < key.length; position += 1) {
      for (const character of `${BASE_62}_- `) {
        const tampered = key.slice(0, position) + character + key.slice(position + 1);
        if (tampered !== key && findKeyProblem(tampered, 'staging') !== 'malformed') {
          undetected.push(tampered);
        }
      }
    }
    expect(undetected).toStrictEqual([]);
  });

  it('is malformed when two neighbouring characters are swapped', () => {
    const key = generateApiKey('staging');
    for (let position = 0; position < key.length - 1; position += 1) {
      const swapped =
        key.slice(0, position) + key.charAt(position + 1) + key.charAt(position) + key.slice(position + 2);
      expect(findKeyProblem(swapped, 'staging')).toBe(swapped === key ? null : 'malformed');
    }
  });

  it.each([
    ['nothing', ''],
    ['one character less', STAGING_KEY.slice(0, -1)],
    ['one character more', `${STAGING_KEY}0`],
    ['a line break after it', `${STAGING_KEY}\n`],
    ['a space before it', ` ${STAGING_KEY}`],
    ['a prefix in capitals', STAGING_KEY.replace('ask_test_', 'ASK_TEST_')],
    ['a letter outside ASCII', `${STAGING_KEY.slice(0, 20)}é${STAGING_KEY.slice(21)}`],
    ['two keys', STAGING_KEY + STAGING_KEY],
    // The checksums of these are correct:
    ['31 random characters', 'ask_test_zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz3bAkEU'],
    ['33 random characters', 'ask_test_zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz4OWGe6'],
    ['a character outside base 62', 'ask_test_zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz-4PlqLT'],
    ['a letter before the prefix', 'xask_test_zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz4fQrrs'],
    ['an unknown prefix', 'ask_beta_zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz1DcaTn'],
  ])('is malformed, even if its checksum is correct: %s', (_what, text) => {
    expect(findKeyProblem(text, 'staging')).toBe('malformed');
  });
});

describe('what is stored of an API key', () => {
  it('is its SHA-256', () => {
    expect(hashApiKey(STAGING_KEY).toString('hex')).toBe(
      createHash('sha256').update(STAGING_KEY).digest('hex'),
    );
  });

  it('includes its prefix and last four characters, for its owner to recognise it', () => {
    expect(keyHints(STAGING_KEY)).toEqual({ prefix: 'ask_test_', lastFour: STAGING_KEY.slice(-4) });
    expect(keyHints(PRODUCTION_KEY)).toEqual({ prefix: 'ask_live_', lastFour: PRODUCTION_KEY.slice(-4) });
  });
});
