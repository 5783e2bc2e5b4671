import { crc32 } from 'node:zlib';

const CHECKSUM_BYTES = 4;

/**
 * The text that stands for "after the entry at this position", in base64url. Opaque, so that its content may
 * change; with a checksum, so that one copied in part is refused rather than shows another page.
 */
export function encodeCursor(position: string): string {
  const text = Buffer.from(position);
  const checksum = Buffer.alloc(CHECKSUM_BYTES);
  checksum.writeUInt32BE(crc32(text));
  return Buffer.concat([checksum, text]).toString('base64url');
}

/** The position that a cursor stands for, or null when it is none that `encodeCursor` made. */
export function decodeCursor(cursor: string): string | null {
  const position = Buffer.from(cursor, 'base64url').subarray(CHECKSUM_BYTES).toString();
  return encodeCursor(position) === cursor ? position : null;
}
