import { crc32 } from 'node:zlib';

const ID_BYTES = 8;
const CHECKSUM_BYTES = 4;

/**
 * The text that stands for "after the animal of this identifier": 16 characters of base64url. Opaque, so that
 * its content may change; with a checksum, so that one copied in part is refused rather than shows another page.
 */
export function encodeCursor(lastId: bigint): string {
  const bytes = Buffer.alloc(ID_BYTES + CHECKSUM_BYTES);
  bytes.writeBigInt64BE(lastId);
  bytes.writeUInt32BE(crc32(bytes.subarray(0, ID_BYTES)), ID_BYTES);
  return bytes.toString('base64url');
}

/** The identifier that a cursor stands for, or null when it is none that `encodeCursor` made. */
export function decodeCursor(cursor: string): bigint | null {
  const bytes = Buffer.from(cursor, 'base64url');
  if (bytes.length !== ID_BYTES + CHECKSUM_BYTES) {
    return null;
  }
  const lastId = bytes.readBigInt64BE();
  return encodeCursor(lastId) === cursor ? lastId : null;
}
