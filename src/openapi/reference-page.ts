import { createRequire } from 'node:module';
import path from 'node:path';
import fastifyStatic from '@fastify/static';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { OpenAPIObject } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';

const FILES = path.dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
/** Of Swagger UI's files those that the page loads; the others would tell its version, and more. */
const LOADED = new Set(['/swagger-ui.css', '/index.css', '/favicon-32x32.png', '/swagger-ui-bundle.js']);

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
  void adapter.getInstance().register(fastifyStatic, {
    root: FILES,
    prefix: '/docs/',
    index: false,
    decorateReply: false,
    allowedPath: (name) => LOADED.has(name),
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
