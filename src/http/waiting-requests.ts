import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

const KIB = 1024;
/** For all requests that wait for their turn. */
const MAX_WAITING_BYTES = 28 * KIB * KIB;
/** By connection, where requests wait: first the one whose turn came last the longest ago. */
const waiting = new Map<Socket, number>();
let waitingBytes = 0;

/** Counts the memory of a request that waits. When all that wait take too much, closes the connection that has moved on the longest ago. */
export function startWait(request: IncomingMessage): void {
  const { socket } = request;
  const bytes = bytesOf(request);
  waiting.set(socket, (waiting.get(socket) ?? 0) + bytes);
  waitingBytes += bytes;
  if (waitingBytes > MAX_WAITING_BYTES) {
    const [slowest, freed] = waiting.entries().next().value ?? [socket, bytes];
    waiting.delete(slowest);
    waitingBytes -= freed;
    slowest.destroy();
  }
}

/** Ends what `startWait` began, unless that has closed the connection. */
export function endWait(request: IncomingMessage): void {
  const { socket } = request;
  const before = waiting.get(socket);
  if (before === undefined) {
    return;
  }
  const bytes = bytesOf(request);
  waitingBytes -= bytes;
  waiting.delete(socket);
  if (before > bytes) {
    waiting.set(socket, before - bytes);
  }
}

/** Of a body up to 64 KiB are read before its turn; in chunks of one byte each they take 4 MiB. */
function bytesOf({ headers, rawHeaders }: IncomingMessage): number {
  const isChunked = headers['transfer-encoding'] !== undefined;
  const body = isChunked ? 4 * KIB * KIB : Math.min(Number(headers['content-length'] ?? 0), 64 * KIB);
  return 4 * KIB + 64 * rawHeaders.length + rawHeaders.join('').length + body;
}
