import type { IncomingHttpHeaders } from 'node:http';
import { Injectable } from '@nestjs/common';
import type { FastifyInstance, FastifyRequest, onRequestHookHandler, onSendHookHandler } from 'fastify';
import { ApiError } from '../errors/api-error.js';
import { ConcurrencyLimit, OVERLOADED } from './concurrency-limit.js';
import { Connections, SHUTTING_DOWN } from '../server/connections.js';
import { parseJsonBody } from './json-body.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** The bytes of the body, once it was read. */
    bodyBytes: Buffer | null;
  }
}

const LIMIT_BYTES = 64 * 1024;
/** The maximum of requests that wait for their bodies, so these take at most 64 MiB. */
const MAX_WAITING = 1024;
const METHODS = new Set(['POST', 'PUT', 'PATCH']);
const JSON_TYPE = /^application\/json\s*(;|$)/i;

const TOO_LARGE = new ApiError('payload_too_large', 'The body is larger than 64 KiB.', {
  headers: { Connection: 'close' },
});
const NOT_JSON = new ApiError(
  'unsupported_media_type',
  'The body must be JSON, with the header Content-Type: application/json.',
);
const ENCODED = new ApiError(
  'unsupported_media_type',
  'The body must have no content coding: leave out the header Content-Encoding.',
);
const INCOMPLETE = new ApiError('invalid_request', 'The body did not arrive whole.');

/** Stops Fastify from reading bodies before the guards run: they are collected meanwhile, for `ValidationPipe`. */
export function leaveBodiesUnread(fastify: FastifyInstance): void {
  for (const method of fastify.supportedMethods) {
    fastify.addHttpMethod(method, { hasBody: false, overrideExisting: true });
  }
  fastify.addHook('onRoute', (route) => {
    if (METHODS.has(String(route.method))) {
      route.onRequest = [route.onRequest ?? [], collectBody].flat();
      route.onSend = [route.onSend ?? [], forgetBody].flat();
    }
  });
}

const collectBody: onRequestHookHandler = (request, _reply, done) => {
  if (hasBody(request.headers) || request.headers['content-type'] !== undefined) {
    request.body = new RequestBody(request);
  }
  done();
};

/** Forgets a body that has not arrived when the response is made: of a denied request it may never arrive. */
const forgetBody: onSendHookHandler = ({ body }, _reply, _payload, done) => {
  if (body instanceof RequestBody) {
    body.end(INCOMPLETE);
  }
  done();
};

/** Waits for bodies. A request that waits for its body holds no slot; beyond a maximum, the one that waits longest gets 503. */
@Injectable()
export class RequestBodies {
  /** The oldest first. */
  private readonly waiting = new Set<RequestBody>();

  constructor(
    private readonly concurrencyLimit: ConcurrencyLimit,
    private readonly connections: Connections,
  ) {
    connections.refusing.addEventListener('abort', () =>
      this.waiting.forEach((body) => body.end(SHUTTING_DOWN)),
    );
  }

  /**
   * Waits for a body, and returns its JSON, or undefined of an empty one.
   *
   * @throws ApiError `payload_too_large`, `unsupported_media_type`, `invalid_request` or `service_unavailable`.
   */
  async read(body: RequestBody): Promise<unknown> {
    if (this.connections.refusing.aborted) {
      body.end(SHUTTING_DOWN);
    }
    if (body.isPending) {
      this.waiting.add(body);
      if (this.waiting.size > MAX_WAITING) {
        const [oldest] = this.waiting;
        oldest?.end(OVERLOADED);
      }
      this.concurrencyLimit.pause(body.request);
      await new Promise<void>((resolve) => (body.onEnd = resolve));
      this.concurrencyLimit.resume(body.request);
      this.waiting.delete(body);
    }
    return body.json();
  }
}

/** A body that is collected in one `Buffer`: a list of one-byte chunks would take 400 times the memory. */
export class RequestBody {
  isPending: boolean;
  onEnd = () => {};
  private bytes = Buffer.alloc(0);
  private length = 0;
  private error: ApiError | null;

  constructor(readonly request: FastifyRequest) {
    const { raw, headers } = request;
    // The body of a client that has gone is incomplete.
    this.error = headerError(headers) ?? (raw.destroyed ? INCOMPLETE : null);
    this.isPending = this.error === null;
    if (this.isPending) {
      raw.on('data', (chunk: Buffer) => this.add(chunk));
      raw.once('end', () => this.end(null)).once('close', () => this.end(INCOMPLETE));
    }
  }

  /** Ends the wait for the body, with an error if it has not arrived whole. */
  end(error: ApiError | null): void {
    if (this.isPending) {
      this.isPending = false;
      this.error = error;
      if (error !== null) {
        this.bytes = Buffer.alloc(0);
      }
      this.onEnd();
    }
  }

  json(): unknown {
    if (this.error !== null) {
      throw this.error;
    }
    const bytes = this.bytes.subarray(0, this.length);
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

  private add(chunk: Buffer): void {
    if (this.length + chunk.length > LIMIT_BYTES) {
      this.end(TOO_LARGE);
    } else if (this.isPending) {
      if (this.bytes.length === 0) {
        this.bytes = Buffer.allocUnsafe(Number(this.request.headers['content-length'] ?? LIMIT_BYTES));
      }
      this.length += chunk.copy(this.bytes, this.length);
    }
  }
}

function hasBody(headers: IncomingHttpHeaders): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}

/** Returns the error of a body that its headers show, or null. */
function headerError(headers: IncomingHttpHeaders): ApiError | null {
  const { 'content-length': length, 'content-type': type = '', 'content-encoding': codings = '' } = headers;
  if (Number(length) > LIMIT_BYTES) {
    return TOO_LARGE;
  }
  if (!JSON_TYPE.test(type)) {
    return NOT_JSON;
  }
  // Besides `identity`, which is none, and empty elements (RFC 9110, section 8.4).
  const isEncoded =
    hasBody(headers) && codings.split(',').some((coding) => !/^(identity)?$/i.test(coding.trim()));
  return isEncoded ? ENCODED : null;
}
