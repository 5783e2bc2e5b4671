import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../errors/api-error.js';
import { OVERLOADED } from './concurrency-limit.js';
import { parseJsonBody } from './json-body.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** The body as it came, where it was read. */
    bodyBytes: Buffer | null;
  }
}

/** The longest body that is read. */
const BODY_LIMIT_BYTES = 64 * 1024;
/** What all bodies that have not arrived whole may take together. */
const MAX_PENDING_BYTES = 64 * 1024 * 1024;
/** More than any network cuts 64 KiB into; a body may come byte by byte, and each piece costs a callback. */
const MAX_PIECES = 4096;
const FIRST_BYTES = 1024;
const METHODS = new Set(['POST', 'PUT', 'PATCH']);
const JSON_TYPE = /^application\/json\s*(;|$)/i;

/** The bodies of requests, which are collected while the guards run. All that have not arrived whole are bounded together. */
@Injectable()
export class RequestBodies {
  private readonly pending = new Set<RequestBody>();
  private pendingBytes = 0;

  /** Collects the body of a request from now on, where it has one and its route may want it. */
  collect(request: FastifyRequest, reply: FastifyReply): void {
    if (METHODS.has(request.method) && !request.is404 && mayHaveBody(request.headers)) {
      request.body = new RequestBody(request, reply, this);
    }
  }

  /** Counts what a body takes more. Gives up the oldest bodies where all take too much, so that slow clients take nothing from others. */
  grow(bytes: number): void {
    this.pendingBytes += bytes;
    for (const body of this.pending) {
      if (this.pendingBytes <= MAX_PENDING_BYTES) {
        return;
      }
      body.end(OVERLOADED);
    }
  }

  /** Gives up all bodies that have not arrived whole, for this reason. */
  abandon(reason: ApiError): void {
    this.pending.forEach((body) => body.end(reason));
  }

  add(body: RequestBody): void {
    this.pending.add(body);
  }

  delete(body: RequestBody): void {
    this.pending.delete(body);
    this.pendingBytes -= body.size;
  }
}

/**
 * A body on its way, in one `Buffer`: kept as they come, pieces of one byte would take a hundred and fifty times as much. It never
 * rejects; what is wrong with it is for `json()` to say.
 */
export class RequestBody {
  isPending = false;
  private buffer = Buffer.alloc(0);
  private length = 0;
  private pieces = 0;
  private fault: ApiError | null;
  private resolve = () => {};

  constructor(
    readonly request: FastifyRequest,
    private readonly reply: FastifyReply,
    private readonly bodies: RequestBodies,
  ) {
    this.fault = faultOf(request.headers);
    if (this.fault === null) {
      this.isPending = true;
      bodies.add(this);
      request.raw.on('data', this.take).on('end', this.finish).on('close', this.breakOff);
    }
  }

  /** Bytes that it takes in memory. */
  get size(): number {
    return this.buffer.length;
  }

  /** Waits until the body has arrived, or is not to be read further. A client that waits to be asked for it is asked. */
  arrival(): Promise<void> {
    const { headers, raw } = this.request;
    if (raw.httpVersion === '1.1' && /^100-continue$/i.test(headers.expect ?? '')) {
      this.reply.raw.writeContinue();
    }
    return new Promise((resolve) => (this.resolve = resolve));
  }

  /**
   * Returns the JSON of a body that has arrived, and keeps its bytes on the request; undefined where it is empty.
   *
   * @throws ApiError `payload_too_large`, `unsupported_media_type`, `invalid_request` or `service_unavailable`. All that can be wrong with
   *   a body closes the connection, as its rest is not read.
   */
  json(): unknown {
    if (this.fault !== null) {
      throw this.fault;
    }
    const bytes = this.buffer.subarray(0, this.length);
    this.request.bodyBytes = bytes;
    // Many clients name the type where there is no body; whether one is needed the route says.
    if (bytes.length === 0) {
      return undefined;
    }
    try {
      return parseJsonBody(bytes);
    } catch (error) {
      throw bodyError('invalid_request', `The body is not JSON: ${(error as SyntaxError).message}.`);
    }
  }

  /** Reads no further. */
  end(fault: ApiError | null): void {
    if (!this.isPending) {
      return;
    }
    this.isPending = false;
    this.fault = fault;
    this.request.raw.off('data', this.take).off('end', this.finish).off('close', this.breakOff);
    this.bodies.delete(this);
    this.resolve();
  }

  private readonly take = (piece: Buffer): void => {
    const needed = this.length + piece.length;
    this.pieces += 1;
    if (needed > BODY_LIMIT_BYTES) {
      this.end(tooLarge());
    } else if (this.pieces > MAX_PIECES) {
      this.end(bodyError('invalid_request', `The body comes in more than ${MAX_PIECES} pieces.`));
    } else {
      if (needed > this.buffer.length) {
        this.grow(needed);
      }
      piece.copy(this.buffer, this.length);
      this.length = needed;
    }
  };

  /** To all of a body that has arrived at once; else to twice as much as before, so that a byte costs a client a byte. */
  private grow(needed: number): void {
    const isWhole = needed === Number(this.request.headers['content-length']);
    const doubled = Math.min(BODY_LIMIT_BYTES, Math.max(needed, 2 * this.size, FIRST_BYTES));
    const larger = Buffer.allocUnsafe(isWhole ? needed : doubled);
    this.buffer.copy(larger, 0, 0, this.length);
    const more = larger.length - this.size;
    this.buffer = larger;
    this.bodies.grow(more);
  }

  private readonly finish = (): void => this.end(null);
  private readonly breakOff = (): void =>
    this.end(bodyError('invalid_request', 'The body did not arrive whole.'));
}

/** Whether a response is made before the body of its request has arrived, so that the rest would have to be read behind it. */
export function isUnread({ headers, complete }: IncomingMessage): boolean {
  return !complete && lengthOf(headers) !== 0;
}

/** The declared length, 0 where there is no body, NaN where it comes in chunks. */
function lengthOf(headers: IncomingHttpHeaders): number {
  return headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : NaN;
}

function mayHaveBody(headers: IncomingHttpHeaders): boolean {
  return lengthOf(headers) !== 0 || headers['content-type'] !== undefined;
}

/** What the headers alone say is wrong with a body, in the order in which it is reported. */
function faultOf(headers: IncomingHttpHeaders): ApiError | null {
  const { 'content-type': type = '', 'content-encoding': codings = '' } = headers;
  if (lengthOf(headers) > BODY_LIMIT_BYTES) {
    return tooLarge();
  }
  if (!JSON_TYPE.test(type)) {
    const message = 'The body must be JSON, with the header Content-Type: application/json.';
    return bodyError('unsupported_media_type', message);
  }
  // Besides `identity`, which is none, and empty elements (RFC 9110, section 8.4).
  if (lengthOf(headers) !== 0 && codings.split(',').some((coding) => !/^(identity)?$/i.test(coding.trim()))) {
    const message = 'The body must have no content coding: leave out the header Content-Encoding.';
    return bodyError('unsupported_media_type', message);
  }
  return null;
}

function tooLarge(): ApiError {
  return bodyError('payload_too_large', 'The body is larger than 64 KiB.');
}

function bodyError(
  code: 'invalid_request' | 'payload_too_large' | 'unsupported_media_type',
  message: string,
): ApiError {
  return new ApiError(code, message, { headers: { Connection: 'close' } });
}
