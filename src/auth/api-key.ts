import { hash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

export type KeyEnvironment = 'production' | 'staging';

const PREFIXES = { production: 'ask_live_', staging: 'ask_test_' } as const;
const BASE_62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const SECRET_LENGTH = 32;
const CHECKSUM_LENGTH = 6;
const FORMAT = /^(ask_live_|ask_test_)[0-9A-Za-z]{38}$/;

/** How a text fails to be a key of this environment. */
export type KeyFault = 'malformed' | 'other_environment';

/** CRC-32 of the text, in base 62, most significant digit first. */
function checksum(text: string): string {
  let rest = crc32(text);
  let digits = '';
  for (let position = 0; position < CHECKSUM_LENGTH; position += 1) {
    digits = BASE_62.charAt(rest % BASE_62.length) + digits;
    rest = Math.floor(rest / BASE_62.length);
  }
  return digits;
}

/** A new random key: prefix, 32 base-62 characters (190 bits), checksum of all before it. */
export function generateApiKey(environment: KeyEnvironment): string {
  let key: string = PREFIXES[environment];
  for (let position = 0; position < SECRET_LENGTH; position += 1) {
    key += BASE_62.charAt(randomInt(BASE_62.length));
  }
  return key + checksum(key);
}

/** Why the text cannot be a key of this environment, or null when it can. Needs no look-up. */
export function keyFault(text: string, environment: KeyEnvironment): KeyFault | null {
  if (!FORMAT.test(text)) {
    return 'malformed';
  }
  if (checksum(text.slice(0, -CHECKSUM_LENGTH)) !== text.slice(-CHECKSUM_LENGTH)) {
    return 'malformed';
  }
  return text.startsWith(PREFIXES[environment]) ? null : 'other_environment';
}

/** SHA-256: all that is kept of a key. A fast hash is enough, as the key has 190 bits of randomness. */
export function hashApiKey(key: string): Buffer {
  return hash('sha256', key, 'buffer');
}

/** A text in which no key can be read, for what is said of a fault. */
export function withoutSecrets(text: string): string {
  return text.replace(/(ask_(?:live|test)_)[0-9A-Za-z]+/g, '$1…');
}

/** What a list may show of a key, so that its owner recognises it. */
export function keyHints(key: string): { prefix: string; lastFour: string } {
  return { prefix: key.slice(0, PREFIXES.production.length), lastFour: key.slice(-4) };
}
