import { parseInt64 } from '../http/int64.js';

/** The text that stands for "after the animal of this identifier". Opaque, so that its content may change. */
export function encodeCursor(lastId: bigint): string {
  return Buffer.from(`after:${lastId}`).toString('base64url');
}

/** The identifier that a cursor stands for, or null when it is none that `encodeCursor` made. */
export function decodeCursor(cursor: string): bigint | null {
  const text = Buffer.from(cursor, 'base64url').toString();
  const lastId = text.startsWith('after:') ? parseInt64(text.slice('after:'.length)) : null;
  return lastId !== null && encodeCursor(lastId) === cursor ? lastId : null;
}
