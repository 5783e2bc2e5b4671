import { AsyncResource } from 'node:async_hooks';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { addWaiting, removeWaiting } from './waiting-requests.js';

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

  constructor(private readonly socket: Socket) {
    pipelines.set(socket, this);
    // Node resumes the socket whenever a request has arrived whole, and `pause` emits nothing if a body has paused it since.
    socket.on('resume', () => this.turns.length > 1 && socket.pause().emit('pause'));
  }

  add(response: ServerResponse, start: () => void): void {
    const isFirst = this.turns.length === 0;
    this.turns.push({ response, start: isFirst ? start : AsyncResource.bind(start) });
    response.once('close', () => this.startNext());
    if (isFirst) {
      start();
    } else {
      // Of chunks of one byte, strings are shared, while each Buffer would take 400 bytes.
      response.req.setEncoding('latin1');
      this.socket.pause();
      addWaiting(response.req);
    }
  }

  private startNext(): void {
    this.bytesRead = this.socket.bytesRead;
    const isPipelined = this.turns.length > 1;
    this.turns.splice(0, this.socket.writable ? 1 : this.turns.length);
    const [next] = this.turns;
    if (isPipelined) {
      removeWaiting(this.socket, next?.response.req);
    }
    if (this.turns.length === 1) {
      this.socket.resume();
    }
    next?.start();
  }
}
