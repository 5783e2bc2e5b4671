import { AsyncResource } from 'node:async_hooks';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

const KIB = 1024;
const MAX_WAITING_BYTES = 28 * KIB * KIB;
let allWaitingBytes = 0;
/** The connections with waiting requests; the first has made no progress for the longest time. */
const waiting = new Set<Pipeline>();
/** The pipeline of each connection on which a request has arrived. */
export const pipelines = new WeakMap<Socket, Pipeline>();

/** Runs `start` once all earlier requests of its connection have their responses (RFC 9112, section 9.3.2), unless that has closed. */
export function inTurn(response: ServerResponse, start: () => void): void {
  const { socket, headers } = response.req;
  // Node drops what it has read behind an upgrade without a listener: what it reads next may be the middle of a request.
  response.shouldKeepAlive &&= headers.upgrade === undefined;
  if (socket.writable) {
    (pipelines.get(socket) ?? new Pipeline(socket)).add(response, start);
  }
}

/** The requests of a connection that have no response, in order: the first runs, the others wait. */
class Pipeline {
  readonly turns: { response: ServerResponse; start: () => void }[] = [];
  /** The bytes read of the connection when its last response was sent. */
  bytesRead = 0;
  private waitingBytes = 0;

  constructor(private readonly socket: Socket) {
    pipelines.set(socket, this);
    // Node resumes the socket whenever a request has arrived whole, and `pause` emits nothing if a body has paused it since.
    socket.on('resume', () => this.turns.length > 1 && socket.pause().emit('pause'));
  }

  add(response: ServerResponse, start: () => void): void {
    if (this.turns.length === 0) {
      this.turns.push({ response, start });
      this.startFirst();
    } else {
      this.turns.push({ response, start: AsyncResource.bind(start) });
      // Of chunks of one byte, strings are shared, while each Buffer would take 400 bytes.
      response.req.setEncoding('latin1');
      this.socket.pause();
      this.setWaitingBytes(this.waitingBytes + bytesOf(response.req));
    }
  }

  private startFirst(): void {
    this.turns[0]?.response.once('close', () => this.startNext());
    this.turns[0]?.start();
  }

  private startNext(): void {
    this.bytesRead = this.socket.bytesRead;
    this.turns.shift();
    if (!this.socket.writable) {
      this.turns.length = 0;
    }
    const next = this.turns[0]?.response.req;
    this.setWaitingBytes(next === undefined ? 0 : this.waitingBytes - bytesOf(next));
    if (this.turns.length === 1) {
      this.socket.resume();
    }
    this.startFirst();
  }

  /** Over the maximum, closes the connection that has made no progress for the longest time. */
  private setWaitingBytes(bytes: number): void {
    allWaitingBytes += bytes - this.waitingBytes;
    this.waitingBytes = bytes;
    waiting.delete(this);
    if (bytes > 0) {
      waiting.add(this);
    }
    if (allWaitingBytes > MAX_WAITING_BYTES) {
      const [slowest = this] = waiting;
      slowest.setWaitingBytes(0);
      slowest.socket.destroy();
    }
  }
}

/** Up to 64 KiB of a body are read before its turn; in chunks of one byte each they count as 4 MiB. */
function bytesOf({ headers, rawHeaders }: IncomingMessage): number {
  const isChunked = headers['transfer-encoding'] !== undefined;
  const body = isChunked ? 4 * KIB * KIB : Math.min(Number(headers['content-length'] ?? 0), 64 * KIB);
  return 4 * KIB + 64 * rawHeaders.length + rawHeaders.join('').length + body;
}
