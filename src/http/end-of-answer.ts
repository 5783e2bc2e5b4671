import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** What is to happen when the connection of answers closes before they have ended, by connection. */
const open = new WeakMap<Socket, Set<() => void>>();

/**
 * Calls back once, when an answer is sent, or its connection has closed. Node tells that of the one answer whose turn it is; of
 * those behind it, to requests that were pipelined, it says nothing more once the connection has closed.
 */
export function whenAnswerEnds(answer: ServerResponse, callback: () => void): void {
  const { socket } = answer.req;
  if (socket.destroyed || answer.closed) {
    callback();
    return;
  }
  const endings = endingsOf(socket);
  const end = () => {
    if (endings.delete(end)) {
      callback();
    }
  };
  endings.add(end);
  answer.once('close', end);
}

/** With one listener for each connection, however many requests are pipelined on it. */
function endingsOf(socket: Socket): Set<() => void> {
  let endings = open.get(socket);
  if (endings === undefined) {
    const made = new Set<() => void>();
    socket.once('close', () => made.forEach((end) => end()));
    open.set(socket, made);
    endings = made;
  }
  return endings;
}
