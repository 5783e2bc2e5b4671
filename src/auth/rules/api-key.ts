import { hash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

type KeyEnvironment = 'production' | 'staging';

const PREFIXES = { production: 'ask_live_', staging: 'ask_test_' } as const;
const BASE_62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const SECRET_LENGTH = 32;
const CHECKSUM_LENGTH = 6;
const FORMAT = /^(ask_live_|ask_test_)[0-9A-Za-z]{38}$/;

type KeyProblem = 'malformed' | 'other_environment';

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

/** Returns a new random key: prefix, 32 base-62 characters (190 bits), checksum of all before it. */
export function generateApiKey(environment: KeyEnvironment): string {
  let key: string = PREFIXES[environment];
  for (let position = 0; position < SECRET_LENGTH; position += 1) {
    key += BASE_62.charAt(randomInt(BASE_62.length));
  }
  return key + checksum(key);
}

/** Returns why a text cannot be a key of this environment, or null if it can. */
export function findKeyProblem(text: string, environment: KeyEnvironment): KeyProblem | null {
  const isWhole =
    FORMAT.test(text) && checksum(text.slice(0, -CHECKSUM_LENGTH)) === text.slice(-CHECKSUM_LENGTH);
  if (!isWhole) {
    return 'malformed';
  }
  return text.startsWith(PREFIXES[environment]) ? null : 'other_environment';
}

/** Returns the SHA-256 that is stored of a key: 190 random bits need no slow hash. */
export function hashApiKey(key: string): Buffer {
  return hash('sha256', key, 'buffer');
}

/**
 * Returns the forms in which the hash of a key may be stored: as it is, or with the byte that a trigger adds
 * while the key is suspended.
 */
export function storedHashes(keyHash: Buffer): Buffer<ArrayBuffer>[] {
  return [Buffer.from(keyHash), Buffer.from([...keyHash, 0])];
}

/** Returns what a list may show of a key, so that its owner recognises it. */
export function keyHints(key: string): { prefix: string; lastFour: string } {
  return { prefix: key.slice(0, PREFIXES.production.length), lastFour: key.slice(-4) };
}
