import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { whenAnswerEnds } from './end-of-answer.js';

/** The answer to what arrived last on each connection. */
const last = new WeakMap<Socket, ServerResponse>();

/**
 * Begins a request when all that came before it on its connection are answered, as its answer could not be sent sooner (RFC 9112,
 * section 9.3.2): so a client that pipelines takes no more of the service at once than any other. Meanwhile nothing more is read
 * from it; and if it goes, nothing more is begun.
 */
export function inTurn(answer: ServerResponse, begin: () => void): void {
  const { socket } = answer.req;
  const before = last.get(socket);
  last.set(socket, answer);
  if (before === undefined || before.closed) {
    begin();
    return;
  }
  socket.pause();
  whenAnswerEnds(before, () => {
    if (socket.destroyed) {
      return;
    }
    if (last.get(socket) === answer) {
      socket.resume();
    }
    begin();
  });
}
