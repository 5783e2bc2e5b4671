import { AsyncResource } from 'node:async_hooks';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { endWait, startWait } from './waiting-requests.js';

/** The requests of a connection that have no response, in order: the first runs, the others wait. */
class Pipeline {
  readonly turns: { response: ServerResponse; start: () => void }[] = [];
  /** How much had been read of the connection when its last response was sent. */
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

/** By connection; none where no request has arrived. */
export const pipelines = new WeakMap<Socket, Pipeline>();

/** Runs `start` once all earlier requests of its connection have their responses (RFC 9112, section 9.3.2), unless that has closed. */
export function inTurn(response: ServerResponse, start: () => void): void {
  const { socket, headers } = response.req;
  // Node drops what it has read behind an upgrade that nobody takes: what it reads next may be the middle of a request.
  response.shouldKeepAlive &&= headers.upgrade === undefined;
  if (socket.writable) {
    (pipelines.get(socket) ?? new Pipeline(socket)).add(response, start);
  }
}
