import { AsyncResource } from 'node:async_hooks';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

const KIB = 1024;
/** The maximum memory of all requests that wait for their turn. */
const MAX_WAITING_BYTES = 28 * KIB * KIB;
/** The memory of waiting requests by connection, of which the first has made no progress for the longest time. */
const waitingBytes = new Map<Socket, number>();
let allWaitingBytes = 0;

/** The requests of a connection that have no response, in order: the first runs, the others wait. */
class Pipeline {
  readonly turns: { response: ServerResponse; start: () => void }[] = [];
  /** The bytes read of the connection when its last response was sent. */
  bytesRead = 0;

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
      const context = new AsyncResource('WaitingRequest');
      this.turns.push({ response, start: () => context.runInAsyncScope(start) });
      this.socket.pause();
      startWait(response.req);
    }
  }

  private startFirst(): void {
    this.turns[0]?.response.once('close', () => this.startNext());
    this.turns[0]?.start();
  }

  private startNext(): void {
    this.bytesRead = this.socket.bytesRead;
    this.turns.shift();
    const leaving = this.socket.writable ? this.turns.slice(0, 1) : this.turns.splice(0);
    leaving.forEach(({ response }) => endWait(response.req));
    if (this.turns.length === 1) {
      this.socket.resume();
    }
    this.startFirst();
  }
}

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

/** Counts the memory of a waiting request; over the maximum, closes the connection that has made no progress for the longest time. */
function startWait(request: IncomingMessage): void {
  const { socket } = request;
  const bytes = bytesOf(request);
  waitingBytes.set(socket, (waitingBytes.get(socket) ?? 0) + bytes);
  allWaitingBytes += bytes;
  if (allWaitingBytes > MAX_WAITING_BYTES) {
    const [slowest, freed] = waitingBytes.entries().next().value ?? [socket, bytes];
    waitingBytes.delete(slowest);
    allWaitingBytes -= freed;
    slowest.destroy();
  }
}

/** Ends what `startWait` began, unless that has closed the connection. */
function endWait(request: IncomingMessage): void {
  const { socket } = request;
  const before = waitingBytes.get(socket);
  if (before === undefined) {
    return;
  }
  const bytes = bytesOf(request);
  allWaitingBytes -= bytes;
  waitingBytes.delete(socket);
  if (before > bytes) {
    waitingBytes.set(socket, before - bytes);
  }
}

/** Up to 64 KiB of a body are read before its turn; in chunks of one byte each they take 4 MiB. */
function bytesOf({ headers, rawHeaders }: IncomingMessage): number {
  const isChunked = headers['transfer-encoding'] !== undefined;
  const body = isChunked ? 4 * KIB * KIB : Math.min(Number(headers['content-length'] ?? 0), 64 * KIB);
  return 4 * KIB + 64 * rawHeaders.length + rawHeaders.join('').length + body;
}
