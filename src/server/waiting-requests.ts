import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

const KIB = 1024;
const MAX_BYTES = 28 * KIB * KIB;
/** The memory of each connection's waiting requests; the first connection has made no progress for the longest time. */
const bytesBySocket = new Map<Socket, number>();
let allBytes = 0;

/** Counts a request that waits for its turn. Over the maximum, closes the connection without progress for the longest time. */
export function addWaiting(request: IncomingMessage): void {
  const { socket } = request;
  setBytes(socket, (bytesBySocket.get(socket) ?? 0) + bytesOf(request));
  if (allBytes > MAX_BYTES) {
    const [slowest = socket] = bytesBySocket.keys();
    setBytes(slowest, 0);
    slowest.destroy();
  }
}

/** Stops counting a request whose turn has come; without a request, all of this connection. */
export function removeWaiting(socket: Socket, request?: IncomingMessage): void {
  setBytes(socket, request === undefined ? 0 : (bytesBySocket.get(socket) ?? 0) - bytesOf(request));
}

function setBytes(socket: Socket, bytes: number): void {
  allBytes += bytes - (bytesBySocket.get(socket) ?? 0);
  bytesBySocket.delete(socket);
  if (bytes > 0) {
    bytesBySocket.set(socket, bytes);
  }
}

/** Up to 64 KiB of a body are read before its turn; in chunks of one byte each they count as 4 MiB. */
function bytesOf({ headers, rawHeaders }: IncomingMessage): number {
  const isChunked = headers['transfer-encoding'] !== undefined;
  const body = isChunked ? 4 * KIB * KIB : Math.min(Number(headers['content-length'] ?? 0), 64 * KIB);
  return 4 * KIB + 64 * rawHeaders.length + rawHeaders.join('').length + body;
}
