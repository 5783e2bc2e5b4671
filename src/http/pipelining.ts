import { AsyncResource } from 'node:async_hooks';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** What a request takes that waits, beside its headers and its body. */
const REQUEST_BYTES = 4 * 1024;
/** What a header takes beside its text, however short: 16 KiB of them may be four thousand. */
const HEADER_BYTES = 128;
/** Of a body that is longer the rest is not read before its turn. */
const MAX_BODY_BYTES = 64 * 1024;
/** A body in chunks may come byte by byte, and is kept so. */
const CHUNKED_BODY_BYTES = 4 * 1024 * 1024;

/**
 * So much may wait on a connection, nearly a hundred requests without bodies, before nothing more is read of it; that comes on top
 * which Node reads at once with the last of it, 64 KiB. Not less, as only by reading it is noticed that a client has gone.
 */
const READ_AHEAD_BYTES = 100 * REQUEST_BYTES;

/** So much may wait on all connections together; one on which more arrives is closed. */
const MAX_WAITING_BYTES = 10_000 * REQUEST_BYTES;

interface Waiting {
  answer: ServerResponse;
  begin: () => void;
  bytes: number;
}

/** The requests of a connection that are not answered, in the order in which they came. */
interface Pipeline {
  /** The answer whose turn it is; null between two requests. */
  current: ServerResponse | null;
  waiting: Waiting[];
  waitingBytes: number;
  /** The answer to the last one. It stays here when it was sent before its request had arrived whole. */
  newest: ServerResponse | null;
  /** Says what is to be said behind all of them. */
  lastWord: (() => void) | null;
  /** Whether nothing is read. */
  isPaused: boolean;
}

const pipelines = new WeakMap<Socket, Pipeline>();
let waitingBytesInAll = 0;

/**
 * Begins a request when all that came before it on its connection are answered, as its answer could not be sent sooner (RFC 9112,
 * section 9.3.2): so a client that pipelines takes no more of the service at once than any other. When much waits, nothing more is
 * read of it; when very much does, it is cut off; and if it goes, nothing more is begun.
 */
export function inTurn(answer: ServerResponse, begin: () => void): void {
  const { socket } = answer.req;
  if (!socket.writable) {
    return;
  }
  const pipeline = pipelineOf(socket);
  pipeline.newest = answer;
  // Node drops what it has read behind an upgrade that nobody takes, so that the next it reads may be the midst of a request.
  if (answer.req.headers.upgrade !== undefined) {
    answer.shouldKeepAlive = false;
  }
  answer.on('close', leave);
  if (pipeline.current === null) {
    pipeline.current = answer;
    begin();
    return;
  }
  if (waitingBytesInAll >= MAX_WAITING_BYTES) {
    socket.destroy();
    return;
  }
  // Whatever is known of the request in front by the asynchronous context in which that ends is not of this one.
  const waiting = { answer, begin: AsyncResource.bind(begin), bytes: bytesOf(answer.req) };
  pipeline.waiting.push(waiting);
  weigh(pipeline, waiting.bytes);
  if (pipeline.waitingBytes >= READ_AHEAD_BYTES && !pipeline.isPaused) {
    pipeline.isPaused = true;
    socket.on('resume', pauseAgain).pause();
  }
}

/**
 * Says something that ends a connection, on which nothing can arrive any more: in place of the answer to a request that has not
 * arrived whole, and else behind all answers. Where such a request was answered already, the connection ends without a word.
 */
export function sayLast(socket: Socket, say: () => void): void {
  const pipeline = pipelineOf(socket);
  const { current, newest } = pipeline;
  const isInPart = newest?.req.complete === false;
  if (isInPart && newest.headersSent) {
    socket.destroySoon();
    return;
  }
  if (isInPart && newest !== current) {
    // It is the last of those that wait, and nobody is to begin it.
    weigh(pipeline, -(pipeline.waiting.pop()?.bytes ?? 0));
  }
  if (current === null || (isInPart && newest === current)) {
    say();
  } else {
    pipeline.lastWord = say;
  }
}

/** The answers that are owed on a connection, in the order in which they are sent. */
export function answersOwed(socket: Socket): ServerResponse[] {
  const pipeline = pipelines.get(socket);
  if (pipeline === undefined || pipeline.current === null) {
    return [];
  }
  return [pipeline.current, ...pipeline.waiting.map(({ answer }) => answer)];
}

/** Whether no request has arrived on a connection yet. */
export function isUnused(socket: Socket): boolean {
  return !pipelines.has(socket);
}

/** The request on a connection that has not arrived whole; null where there is none. */
export function requestInPart(socket: Socket): IncomingMessage | null {
  const request = pipelines.get(socket)?.newest?.req;
  return request?.complete === false ? request : null;
}

/** Whether requests wait on a connection, so that what comes behind them may not be read yet. */
export function isBehindhand(socket: Socket): boolean {
  return (pipelines.get(socket)?.waiting.length ?? 0) > 0;
}

function pipelineOf(socket: Socket): Pipeline {
  let pipeline = pipelines.get(socket);
  if (pipeline === undefined) {
    pipeline = { current: null, waiting: [], waitingBytes: 0, newest: null, lastWord: null, isPaused: false };
    pipelines.set(socket, pipeline);
  }
  return pipeline;
}

function bytesOf({ rawHeaders, headers }: IncomingMessage): number {
  const isChunked = headers['transfer-encoding'] !== undefined;
  const body = isChunked
    ? CHUNKED_BODY_BYTES
    : Math.min(Number(headers['content-length'] ?? 0), MAX_BODY_BYTES);
  const text = rawHeaders.reduce((sum, { length }) => sum + length, 0);
  return REQUEST_BYTES + (rawHeaders.length / 2) * HEADER_BYTES + text + body;
}

/** Adds to what waits; a negative number takes away. */
function weigh(pipeline: Pipeline, bytes: number): void {
  pipeline.waitingBytes += bytes;
  waitingBytesInAll += bytes;
}

/**
 * An answer is sent, or its connection has closed. Node tells that of the one whose turn it is; of those behind it, it says nothing
 * more when the connection has closed.
 */
function leave(this: ServerResponse): void {
  const { socket } = this.req;
  const pipeline = pipelineOf(socket);
  if (this !== pipeline.current) {
    return;
  }
  pipeline.current = null;
  if (this === pipeline.newest && this.req.complete) {
    pipeline.newest = null;
  }
  // Gone, or told `Connection: close`, behind which nothing more is carried out (RFC 9112, section 9.6).
  if (!socket.writable) {
    pipeline.waiting.length = 0;
    weigh(pipeline, -pipeline.waitingBytes);
    return;
  }
  const next = pipeline.waiting.shift();
  if (next === undefined) {
    pipeline.lastWord?.();
    return;
  }
  weigh(pipeline, -next.bytes);
  if (pipeline.waiting.length === 0 && pipeline.isPaused) {
    pipeline.isPaused = false;
    socket.off('resume', pauseAgain).resume();
  }
  pipeline.current = next.answer;
  next.begin();
}

/** Node reads on by itself whenever a request has arrived. */
function pauseAgain(this: Socket): void {
  this.pause();
}
