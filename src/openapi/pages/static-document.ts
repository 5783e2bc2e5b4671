import { hash } from 'node:crypto';
import { extname } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { FastifyInstance, FastifyRequest, RouteShorthandOptions } from 'fastify';
import Negotiator from 'negotiator';
import { namesTag } from '../../http/responses/revalidation.hook.js';
import { addVary } from '../../http/responses/vary.js';

export interface StaticDocument {
  path: string;
  /** By default that of the path's extension. */
  type?: string;
  /** A function is called once, at the first request. */
  content: Buffer | (() => Buffer);
  headers?: Record<string, string>;
}

const TYPES: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'application/javascript; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

/** Brotli's levels above take seconds for a script of 1.6 MB, and make it only a tenth smaller. */
const BROTLI_QUALITY = 6;

/** The content codings of a document, best first (RFC 9110, section 8.4.1). */
const compress = {
  br: (content: Buffer) =>
    promisify(brotliCompress)(content, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } }),
  gzip: promisify<Buffer, Buffer>(gzip),
  identity: (content: Buffer) => Promise.resolve(content),
};
type Coding = keyof typeof compress;
const CODINGS = Object.keys(compress) as Coding[];
/** Compression makes files of these types no smaller. */
const IS_COMPRESSED = /^(font\/|image\/png)/;

/**
 * Serves a document from memory. Each content coding is a `Buffer`, which is created at its first request and
 * shared by all responses; a string would be copied for each slow client.
 */
export function serveStaticDocument(
  fastify: FastifyInstance,
  hooks: Pick<RouteShorthandOptions, 'onRequest'>,
  { path, type = TYPES[extname(path)] ?? 'application/octet-stream', content, headers = {} }: StaticDocument,
): void {
  let opened: { bytes: Buffer; digest: string } | undefined;
  const open = () => {
    const bytes = typeof content === 'function' ? content() : content;
    return { bytes, digest: hash('sha1', bytes, 'base64url') };
  };
  const coded = new Map<Coding, Promise<Buffer>>();
  fastify.get(path, hooks, async (request, reply) => {
    const { bytes, digest } = (opened ??= open());
    const coding = IS_COMPRESSED.test(type) ? 'identity' : codingFor(request);
    const tag = `"${digest}-${coding}"`;
    reply.headers({ ETag: tag, 'Cache-Control': 'public, max-age=0', ...headers });
    addVary(reply, 'Accept-Encoding');
    if (namesTag(request.headers['if-none-match'] ?? '', tag)) {
      return reply.status(304).send();
    }
    if (coding !== 'identity') {
      reply.header('Content-Encoding', coding);
    }
    const body = coded.get(coding) ?? compress[coding](bytes);
    coded.set(coding, body);
    body.catch(() => coded.delete(coding));
    return reply.type(type).send(await body);
  });
}

/** Returns the client's preferred coding of those that it accepts, and the best of several alike. */
function codingFor(request: FastifyRequest): Coding {
  // Its types lack the options.
  const negotiator = new Negotiator(request) as {
    encoding(available: Coding[], options: { preferred: Coding[] }): Coding | undefined;
  };
  return negotiator.encoding(CODINGS, { preferred: CODINGS }) ?? 'identity';
}
