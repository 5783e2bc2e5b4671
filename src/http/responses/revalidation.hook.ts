import { hash } from 'node:crypto';
import { applyDecorators, Injectable } from '@nestjs/common';
import { ApiHeader, ApiResponse } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ResponseHook } from './response-hook.js';
import { AddRouteConfig } from '../routes/route-config.decorator.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    revalidated?: boolean;
  }
}

/** Marks an operation with conditional requests: `ETag`, `If-None-Match`, 304. */
export const Revalidated = () =>
  applyDecorators(
    AddRouteConfig({ revalidated: true }),
    ApiHeader({
      name: 'If-None-Match',
      required: false,
      description:
        'The `ETag` of the response that you have. While it is current, the response is 304 without a body.',
      schema: { type: 'string', maxLength: 16_384 },
    }),
    ApiResponse({ status: 304, description: 'The response that you have is current.' }),
  );

const TAG = /"[^"]*"/g;

/** What Apache and Jetty add to the tag of a response that they compress, and leave in `If-None-Match`. */
const CODING_SUFFIX = /--?(gzip|br|zstd|deflate)"$/;

/** Returns the strong `ETag` (RFC 9110, section 8.8.3) of a body and its `Link`, which may change alone. */
export function entityTag(body: string, link = ''): string {
  return `"${hash('sha1', `${link}\n${body}`, 'base64url')}"`;
}

/**
 * Returns whether an `If-None-Match` names this tag, by the weak comparison (RFC 9110, section 13.1.2), with
 * or without the suffix of a proxy that compresses.
 */
export function namesTag(ifNoneMatch: string, tag: string): boolean {
  const isNamed = (named: string) => named === tag || named.replace(CODING_SUFFIX, '"') === tag;
  return ifNoneMatch.trim() === '*' || ifNoneMatch.match(TAG)?.some(isNamed) === true;
}

/** Adds an `ETag` to a 200 of a `@Revalidated()` operation, and makes it 304 for a client that has it. */
@Injectable()
export class RevalidationHook implements ResponseHook {
  /** The last body with its `Link` and tag, because requests that arrive together often share a page. */
  private last = { body: '', link: '', tag: entityTag('') };

  onSend(request: FastifyRequest, reply: FastifyReply, body: unknown): unknown {
    const isRevalidated = reply.statusCode === 200 && request.routeOptions.config.revalidated === true;
    if (!isRevalidated || typeof body !== 'string') {
      return undefined;
    }
    const tag = this.findTag(body, reply.getHeader('Link')?.toString() ?? '');
    reply.header('ETag', tag).header('Cache-Control', 'private, no-cache');
    if (!namesTag(request.headers['if-none-match'] ?? '', tag)) {
      return undefined;
    }
    reply.status(304).removeHeader('Content-Type');
    // Fastify needs the body of HEAD for its length.
    return request.method === 'HEAD' ? body : null;
  }

  private findTag(body: string, link: string): string {
    if (body !== this.last.body || link !== this.last.link) {
      this.last = { body, link, tag: entityTag(body, link) };
    }
    return this.last.tag;
  }
}
