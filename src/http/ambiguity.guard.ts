import { isIPv6 } from 'node:net';
import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { ApiError } from '../errors/api-error.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** The error of a request that a proxy in front of the service may have read differently; else undefined. */
    ambiguity: ApiError | undefined;
  }
}

/** `uri-host [":" port]` (RFC 9110, section 7.2), without the comma that joins two `Host` headers, and with escapes outside ASCII only. */
const AUTHORITY = /^(?:\[([\da-f:.]+)\]|(?:[\w.~!$&'()*+;=-]|%[89a-f][\da-f])+)(?::(\d*))?$/i;
const PORT_MAX = 65_535;

/** Denies requests that a proxy in front of the service may have read differently. */
@Injectable()
export class AmbiguityGuard implements CanActivate {
  /** @throws ApiError `invalid_request`. */
  canActivate(context: ExecutionContext): boolean {
    const { ambiguity } = context.switchToHttp().getRequest<FastifyRequest>();
    if (ambiguity !== undefined) {
      throw ambiguity;
    }
    return true;
  }
}

/** Returns the error of such a request, else undefined. Its connection closes, since the bytes behind it may not be a request. */
export function ambiguityOf({ headers, originalUrl, raw }: FastifyRequest): ApiError | undefined {
  const { httpVersion } = raw;
  if (httpVersion === '1.1' && headers.host === undefined) {
    return ambiguous('An HTTP/1.1 request needs the header Host.');
  }
  // A client whose target has no host sends an empty one (RFC 9112, section 3.2).
  if (headers.host !== undefined && headers.host !== '' && !isAuthority(headers.host)) {
    return ambiguous('The header Host must be one host, with a port or without.');
  }
  const authority = /^https?:\/\/([^/?]*)/i.exec(originalUrl)?.[1];
  if (authority !== undefined && !isAuthority(authority)) {
    return ambiguous('An absolute request target must name one host, with a port or without.');
  }
  // Only HTTP/1.1 has it (RFC 9112, section 6.1).
  return httpVersion !== '1.1' && headers['transfer-encoding'] !== undefined
    ? ambiguous('Only an HTTP/1.1 request may have the header Transfer-Encoding.')
    : undefined;
}

function ambiguous(message: string): ApiError {
  return new ApiError('invalid_request', message);
}

/** Returns whether a text is one host, with or without a port. */
export function isAuthority(text: string): boolean {
  const [authority, address, port = ''] = AUTHORITY.exec(text) ?? [];
  return authority !== undefined && (address === undefined || isIPv6(address)) && Number(port) <= PORT_MAX;
}
