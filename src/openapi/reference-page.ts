import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { OpenAPIObject } from '@nestjs/swagger';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { namesTag } from '../http/entity-tag.js';

const CSS = 'text/css; charset=utf-8';
const SCRIPT = 'application/javascript; charset=utf-8';
/** Of Swagger UI's files those that the page loads, with their types; the others would tell its version, and more. */
const LOADED = [
  ['swagger-ui.css', CSS],
  ['index.css', CSS],
  ['favicon-32x32.png', 'image/png'],
  ['swagger-ui-bundle.js', SCRIPT],
] as const;
const { resolve } = createRequire(import.meta.url);

const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <title>Animal Store</title>
    <link rel="stylesheet" href="/docs/swagger-ui.css" />
    <link rel="stylesheet" href="/docs/index.css" />
    <link rel="icon" type="image/png" href="/docs/favicon-32x32.png" sizes="32x32" />
  </head>
  <body>
    <div id="swagger-ui"></div>
    <script src="/docs/swagger-ui-bundle.js"></script>
    <script src="/docs/swagger-ui-init.js"></script>
  </body>
</html>
`;

/**
 * Serves a page to read and try an OpenAPI document at `/docs`: Swagger UI. Not by `SwaggerModule.setup()`, whose page has
 * styles within it, which a strict policy forbids.
 *
 * @param document whose servers' addresses the page may call, and no others.
 */
export function serveReferencePage(app: NestFastifyApplication, document: OpenAPIObject): void {
  const policy = policyOf(document);
  const script = scriptOf(document);
  const adapter = app.getHttpAdapter();
  for (const address of ['/docs', '/docs/']) {
    adapter.get(address, (_request: unknown, reply: FastifyReply) => {
      void reply
        .type('text/html; charset=utf-8')
        .header('Content-Security-Policy', policy)
        .header('Referrer-Policy', 'no-referrer')
        .send(PAGE);
    });
  }
  adapter.get('/docs/swagger-ui-init.js', (_request: unknown, reply: FastifyReply) => {
    void reply.type('text/javascript; charset=utf-8').send(script);
  });
  for (const [name, type] of LOADED) {
    serveFile(adapter.getInstance(), name, type);
  }
}

/**
 * A file is read once and sent from memory: a stream that waits behind another answer would keep it open for ever when the
 * connection goes.
 */
function serveFile(fastify: FastifyInstance, name: string, type: string): void {
  const content = readFileSync(resolve(`swagger-ui-dist/${name}`));
  const tag = `"${hash('sha1', content, 'base64url')}"`;
  fastify.get(`/docs/${name}`, (request, reply) => {
    const isKnown = namesTag(request.headers['if-none-match'] ?? '', tag);
    reply.header('ETag', tag).header('Cache-Control', 'public, max-age=0');
    void (isKnown ? reply.status(304).send() : reply.type(type).send(content));
  });
}

/** What the page may load, run and call. Its icons stand in its style sheet, as `data:` addresses. */
function policyOf({ servers = [] }: OpenAPIObject): string {
  const origins = servers.filter(({ url }) => URL.canParse(url)).map(({ url }) => new URL(url).origin);
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    `connect-src ${["'self'", ...new Set(origins)].join(' ')}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/** In a file of its own, as nothing within the page may run. */
function scriptOf(document: OpenAPIObject): string {
  const options = {
    dom_id: '#swagger-ui',
    deepLinking: true,
    displayRequestDuration: true,
    validatorUrl: null,
    spec: document,
  };
  return `SwaggerUIBundle(${JSON.stringify(options, null, 2)});\n`;
}
