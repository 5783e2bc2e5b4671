import type { ServerResponse } from 'node:http';

/** Calls back once, when an answer whose turn it is is sent, or its connection has closed. */
export function whenAnswerEnds(answer: ServerResponse, callback: () => void): void {
  if (answer.req.socket.destroyed || answer.closed) {
    callback();
  } else {
    answer.once('close', callback);
  }
}
