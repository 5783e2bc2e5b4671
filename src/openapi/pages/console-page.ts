import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteShorthandOptions } from 'fastify';
import { targetPath } from '../../http/routes/request-line.js';
import { pageHeaders } from '../../http/responses/security-headers.js';
import { serveStaticDocument, type StaticDocument } from './static-document.js';

const PATH = '/console';
/** The build of the package `console`, in the sources and in the image alike. */
const BUILD = new URL('../../../console/dist/', import.meta.url);
/** The built page has this text in place of the nonce. */
const NONCE_PLACEHOLDER = '%NONCE%';
const NONCE_BYTES = 16;
/** Stands for the relative path to the folder of `/console`, in the page and in addresses of its files. */
const ROOT_PLACEHOLDER = '%ROOT%';

/**
 * Serves the console: its page at `/console` and at every path below, which the page itself routes, and the
 * files that the page loads. Their names are the same in every release, so that the page of one works with
 * the files of another; the page has a nonce for each response, so it is not stored.
 */
export function serveConsole(
  fastify: FastifyInstance,
  hooks: Pick<RouteShorthandOptions, 'onRequest'>,
): void {
  const page = read('index.html').toString().replaceAll('"./assets/', `"${ROOT_PLACEHOLDER}console/assets/`);
  readFiles().forEach((file) => serveStaticDocument(fastify, hooks, file));
  const sendPage = (request: FastifyRequest, reply: FastifyReply) => {
    const nonce = randomBytes(NONCE_BYTES).toString('base64');
    return reply
      .headers({
        'Cache-Control': 'no-store',
        // Styles that the page adds while it runs need the nonce.
        ...pageHeaders(`'nonce-${nonce}'`),
      })
      .type('text/html; charset=utf-8')
      .send(page.replaceAll(NONCE_PLACEHOLDER, nonce).replaceAll(ROOT_PLACEHOLDER, relativeRoot(request)));
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

/** Returns the relative path from a page to the folder of `/console`: a proxy may have a prefix before it. */
function relativeRoot({ originalUrl }: FastifyRequest): string {
  return '../'.repeat(targetPath(originalUrl).split('/').length - 2) || './';
}

function readFiles(): StaticDocument[] {
  return readdirSync(new URL('assets/', BUILD)).map((name) => ({
    path: `${PATH}/assets/${name}`,
    content: read(`assets/${name}`),
    // A font or icon of another release does no harm.
    ...(/\.(woff2|svg)$/.test(name) && { headers: { 'Cache-Control': 'public, max-age=604800' } }),
  }));
}

function read(name: string): Buffer {
  return readFileSync(new URL(name, BUILD));
}
