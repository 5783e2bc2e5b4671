import type { IncomingMessage } from 'node:http';
import { Injectable } from '@nestjs/common';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ApiError } from '../routes/api-error.js';
import { usualMessages } from '../routes/catalogue.js';
import { Connections, SHUTTING_DOWN } from './connections.js';
import { ConcurrencyLimit } from './concurrency-limit.js';
import { JSON_TYPE, RequestBody } from '../routes/request-body.js';
import { toNetwork } from '../rules/network.js';

const LIMIT_BYTES = 64 * 1024;
/** The maximum of bodies that are arriving, so these take at most 64 MiB. */
const MAX_ARRIVING = 1024;
/** A type that cannot be parsed counts as this one (RFC 9110, section 8.3). */
const UNKNOWN_TYPE = 'application/octet-stream';

const TOO_LARGE = new ApiError('payload_too_large', usualMessages.payload_too_large);
const INCOMPLETE = new ApiError('invalid_request', 'The body did not arrive whole.');

interface ArrivingBody {
  readonly request: FastifyRequest;
  /** The client's. */
  readonly network: string;
  /** Ends the arrival, unless it is over; with an error if the body has not arrived whole. */
  readonly end: (error: ApiError | null) => void;
}

/**
 * Collects bodies before the guards run, so that nothing lies between the judgement of a request and its
 * effect. `ValidationPipe` parses them.
 */
@Injectable()
export class RequestBodyReader {
  /** The oldest first. */
  private readonly arriving = new Set<ArrivingBody>();

  constructor(
    private readonly connections: Connections,
    private readonly concurrencyLimit: ConcurrencyLimit,
  ) {
    connections.refusing.addEventListener('abort', () =>
      this.arriving.forEach((body) => body.end(SHUTTING_DOWN)),
    );
  }

  /** Makes this the parser of every content type. */
  addTo(fastify: FastifyInstance): void {
    // Fastify would respond to a type that it cannot parse, and to QUERY without one, before the guards.
    fastify.addHook('onRequest', ({ headers }, _reply, done) => {
      if (headers['content-type'] !== undefined && !JSON_TYPE.test(headers['content-type'])) {
        headers['content-type'] = UNKNOWN_TYPE;
      }
      done();
    });
    fastify.addHttpMethod('QUERY', { overrideExisting: true });
    fastify.removeAllContentTypeParsers();
    fastify.addContentTypeParser('*', (request, payload, done) => this.read(request, payload, done));
  }

  /** Collects a body in one `Buffer`: a list of one-byte chunks would take 400 times the memory. */
  private read(
    request: FastifyRequest,
    payload: IncomingMessage,
    done: (error: Error | null, body: RequestBody) => void,
  ): void {
    const { 'content-length': declared = LIMIT_BYTES } = request.headers;
    let bytes = Buffer.alloc(0);
    let length = 0;
    const end = (error: ApiError | null) => {
      if (this.arriving.delete(body)) {
        done(error, new RequestBody(bytes.subarray(0, length), request.headers));
        bytes = Buffer.alloc(0);
      }
    };
    const body: ArrivingBody = { request, network: toNetwork(request.ip), end };
    this.arriving.add(body);
    payload.on('data', (chunk: Buffer) => {
      if (length + chunk.length > LIMIT_BYTES) {
        end(TOO_LARGE);
      } else if (this.arriving.has(body)) {
        bytes = bytes.length > 0 ? bytes : Buffer.allocUnsafe(Number(declared));
        length += chunk.copy(bytes, length);
      }
    });
    payload.once('end', () => end(null)).once('close', () => end(INCOMPLETE));
    if (this.connections.refusing.aborted) {
      end(SHUTTING_DOWN);
    } else if (Number(declared) > LIMIT_BYTES) {
      end(TOO_LARGE);
    } else if (this.arriving.size > MAX_ARRIVING) {
      const surplus = this.findSurplus();
      surplus.end(this.concurrencyLimit.shed(surplus.request));
    }
  }

  /** Returns the oldest body of the network with the most, so that no client crowds out others. */
  private findSurplus(): ArrivingBody {
    const counts = new Map<string, number>();
    this.arriving.forEach(({ network }) => counts.set(network, (counts.get(network) ?? 0) + 1));
    const most = Math.max(...counts.values());
    return [...this.arriving].find(({ network }) => counts.get(network) === most)!;
  }
}
