import { randomBytes } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteShorthandOptions } from 'fastify';
import { serveStaticDocument } from '../openapi/static-document.js';
import { readConsoleFiles } from './console-files.js';

const PATH = '/console';
/** What the build of the page has in the place of the nonce. */
const NONCE_PLACEHOLDER = '%NONCE%';
const NONCE_BYTES = 16;

/**
 * Serves the console: its page at `/console` and at every path below, which the page itself routes, and the files that the page loads.
 * Files are immutable, because their names contain a hash; the page has a nonce for each response, so it is not stored.
 */
export function serveConsole(
  fastify: FastifyInstance,
  hooks: Pick<RouteShorthandOptions, 'onRequest'>,
): void {
  const { page, files } = readConsoleFiles();
  for (const { name, type, content, brotli } of files) {
    const headers = { 'Cache-Control': 'public, max-age=31536000, immutable' };
    serveStaticDocument(fastify, hooks, { path: `${PATH}/${name}`, type, content, brotli, headers });
  }
  const sendPage = (_request: FastifyRequest, reply: FastifyReply) => {
    const nonce = randomBytes(NONCE_BYTES).toString('base64');
    return reply
      .headers({
        'Cache-Control': 'no-store',
        'Content-Security-Policy': contentSecurityPolicy(nonce),
        'Referrer-Policy': 'no-referrer',
      })
      .type('text/html; charset=utf-8')
      .send(page.replaceAll(NONCE_PLACEHOLDER, nonce));
  };
  fastify.get(PATH, hooks, sendPage);
  fastify.get<{ Params: { '*': string } }>(`${PATH}/*`, hooks, (request, reply) => {
    if (/^assets(\/|$)/.test(request.params['*'])) {
      reply.callNotFound();
      return reply;
    }
    return sendPage(request, reply);
  });
}

/** Returns the content security policy. Styles that the page adds while it runs need the nonce; it has no inline scripts. */
function contentSecurityPolicy(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}
