import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../errors/api-error.js';
import { InFlight, OVERLOADED } from '../server/concurrency-limit.js';
import { parseJsonBody } from './json-body.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** The bytes of the body, where it was read. */
    bodyBytes: Buffer | null;
  }
}

const BODY_LIMIT_BYTES = 64 * 1024;
/** The maximum memory of all bodies that have not arrived whole. */
const MAX_PENDING_BYTES = 64 * 1024 * 1024;
const FIRST_BYTES = 1024;
const METHODS = new Set(['POST', 'PUT', 'PATCH']);
const JSON_TYPE = /^application\/json\s*(;|$)/i;

/** Collects bodies while the guards run, and bounds the memory of those that have not arrived whole. */
@Injectable()
export class RequestBodies {
  private readonly pending = new InFlight<RequestBody>();
  private pendingBytes = 0;

  /** Starts to collect the body of a request that has one, if its route may need it. */
  collect(request: FastifyRequest, reply: FastifyReply): void {
    if (METHODS.has(request.method) && !request.is404 && mayHaveBody(request.headers)) {
      request.body = new RequestBody(request, reply, this);
    }
  }

  /** Counts memory that a body takes; over the maximum, ends the oldest bodies. */
  grow(bytes: number): void {
    this.pendingBytes += bytes;
    while (this.pendingBytes > MAX_PENDING_BYTES) {
      const oldest = this.pending.items.reduce((one, other) => (one.sinceMs <= other.sinceMs ? one : other));
      oldest.end(OVERLOADED);
    }
  }

  /** Ends all bodies that have not arrived whole, with this error. */
  abandon(reason: ApiError): void {
    [...this.pending.items].forEach((body) => body.end(reason));
  }

  add(body: RequestBody): void {
    this.pending.add(body);
  }

  delete(body: RequestBody): void {
    this.pending.delete(body);
    this.pendingBytes -= body.size;
  }
}

/** An arriving body, in one `Buffer`: a list of one-byte pieces would take 150 times the memory. `json()` throws its faults. */
export class RequestBody {
  /** Its index among the pending bodies; null once it has arrived. */
  index: number | null = null;
  /** When it began to arrive, by the monotonic clock. */
  readonly sinceMs = performance.now();
  private buffer = Buffer.alloc(0);
  private length = 0;
  private fault: ApiError | null;
  private resolve = () => {};

  constructor(
    readonly request: FastifyRequest,
    private readonly reply: FastifyReply,
    private readonly bodies: RequestBodies,
  ) {
    this.fault = faultOf(request.headers);
    if (this.fault === null) {
      bodies.add(this);
      request.raw.on('data', this.take).on('end', this.finish).on('close', this.breakOff);
    }
  }

  /** Whether it has not arrived whole. */
  get isPending(): boolean {
    return this.index !== null;
  }

  /** Its memory in bytes. */
  get size(): number {
    return this.buffer.length;
  }

  /** Resolves once the body has arrived or failed; first sends 100 Continue to a client that waits for it. */
  arrival(): Promise<void> {
    const { headers, raw } = this.request;
    if (raw.httpVersion === '1.1' && /^100-continue$/i.test(headers.expect ?? '')) {
      this.reply.raw.writeContinue();
    }
    return new Promise((resolve) => (this.resolve = resolve));
  }

  /**
   * Returns the JSON of a body that has arrived, or undefined of an empty one, and sets `request.bodyBytes`.
   *
   * @throws ApiError `payload_too_large`, `unsupported_media_type`, `invalid_request` or `service_unavailable`.
   */
  json(): unknown {
    if (this.fault !== null) {
      throw this.fault;
    }
    const bytes = this.buffer.subarray(0, this.length);
    this.request.bodyBytes = bytes;
    // Many clients send the type without a body.
    if (bytes.length === 0) {
      return undefined;
    }
    try {
      return parseJsonBody(bytes);
    } catch (error) {
      throw new ApiError('invalid_request', `The body is not JSON: ${(error as SyntaxError).message}.`);
    }
  }

  /** Stops reading, with an error if the body has not arrived whole. */
  end(fault: ApiError | null): void {
    if (!this.isPending) {
      return;
    }
    this.fault = fault;
    this.request.raw.off('data', this.take).off('end', this.finish).off('close', this.breakOff);
    this.bodies.delete(this);
    this.resolve();
  }

  /** A request that waited for its turn has text, see `pipelining.ts`. */
  private readonly take = (data: Buffer | string): void => {
    const piece = typeof data === 'string' ? Buffer.from(data, 'latin1') : data;
    const needed = this.length + piece.length;
    if (needed > BODY_LIMIT_BYTES) {
      this.end(tooLarge());
    } else {
      if (needed > this.buffer.length) {
        this.grow(needed);
      }
      piece.copy(this.buffer, this.length);
      this.length = needed;
    }
  };

  /** Grows to the length of a body that arrives at once, else to double, so that the memory is in proportion to the bytes sent. */
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
    this.end(new ApiError('invalid_request', 'The body did not arrive whole.'));
}

/** Returns whether a part of the request's body has not arrived. */
export function isUnread({ headers, complete }: IncomingMessage): boolean {
  return !complete && lengthOf(headers) !== 0;
}

/** Returns the declared length: 0 without a body, NaN for a chunked one. */
function lengthOf(headers: IncomingHttpHeaders): number {
  return headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : NaN;
}

function mayHaveBody(headers: IncomingHttpHeaders): boolean {
  return lengthOf(headers) !== 0 || headers['content-type'] !== undefined;
}

/** Returns the fault of a body that its headers show, or null. */
function faultOf(headers: IncomingHttpHeaders): ApiError | null {
  const { 'content-type': type = '', 'content-encoding': codings = '' } = headers;
  if (lengthOf(headers) > BODY_LIMIT_BYTES) {
    return tooLarge();
  }
  if (!JSON_TYPE.test(type)) {
    const message = 'The body must be JSON, with the header Content-Type: application/json.';
    return new ApiError('unsupported_media_type', message);
  }
  // Besides `identity`, which is none, and empty elements (RFC 9110, section 8.4).
  if (lengthOf(headers) !== 0 && codings.split(',').some((coding) => !/^(identity)?$/i.test(coding.trim()))) {
    const message = 'The body must have no content coding: leave out the header Content-Encoding.';
    return new ApiError('unsupported_media_type', message);
  }
  return null;
}

function tooLarge(): ApiError {
  return new ApiError('payload_too_large', 'The body is larger than 64 KiB.');
}
