import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { whenAnswerEnds } from './end-of-answer.js';

/**
 * So many requests of a connection may wait before nothing more is read of it; those come on top that Node reads at once with the
 * last of them, 64 KiB. Not fewer, as only by reading it is noticed that a client has gone.
 */
const READ_AHEAD = 100;

/** So many may wait on all connections together, at 4 KB each and its body; a connection that has more arrive is closed. */
const MAX_WAITING = 10_000;

/** The requests of a connection. */
interface Line {
  /** The answer to the one that arrived last. */
  last: ServerResponse;
  waiting: number;
  /** Whether it is not read. */
  isFull: boolean;
}

const lines = new WeakMap<Socket, Line>();
let waitingInAll = 0;

/**
 * Begins a request when all that came before it on its connection are answered, as its answer could not be sent sooner (RFC 9112,
 * section 9.3.2): so a client that pipelines takes no more of the service at once than any other. When many wait, nothing more is
 * read of it; when very many do, it is cut off; and if it goes, nothing more is begun.
 */
export function inTurn(answer: ServerResponse, begin: () => void): void {
  const { socket } = answer.req;
  if (!socket.writable) {
    return;
  }
  const line = lines.get(socket);
  if (line === undefined) {
    lines.set(socket, { last: answer, waiting: 0, isFull: false });
    begin();
    return;
  }
  const before = line.last;
  line.last = answer;
  if (before.closed) {
    begin();
    return;
  }
  if (waitingInAll >= MAX_WAITING) {
    socket.destroy();
    return;
  }
  line.waiting += 1;
  waitingInAll += 1;
  if (line.waiting >= READ_AHEAD && !line.isFull) {
    line.isFull = true;
    socket.on('resume', pauseAgain).pause();
  }
  whenAnswerEnds(before, () => {
    line.waiting -= 1;
    waitingInAll -= 1;
    // Gone, or told `Connection: close`, behind which nothing more is carried out (RFC 9112, section 9.6).
    if (!socket.writable) {
      return;
    }
    if (line.waiting === 0 && line.isFull) {
      line.isFull = false;
      socket.off('resume', pauseAgain).resume();
    }
    begin();
  });
}

/** Node reads on by itself whenever a request has arrived. */
function pauseAgain(this: Socket): void {
  this.pause();
}
