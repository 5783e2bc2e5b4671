import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { OpenAPIObject } from '@nestjs/swagger';
import type { StaticDocument } from './static-document.js';

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
 * The page to read and try an OpenAPI document at `/docs`: Swagger UI. Not by `SwaggerModule.setup()`, whose page has styles within
 * it, which a strict policy forbids.
 *
 * @param document whose servers' addresses the page may call, and no others.
 */
export function referencePage(document: OpenAPIObject): StaticDocument[] {
  const page = {
    type: 'text/html; charset=utf-8',
    content: Buffer.from(PAGE),
    headers: { 'Content-Security-Policy': policyOf(document), 'Referrer-Policy': 'no-referrer' },
  };
  return [
    { path: '/docs', ...page },
    { path: '/docs/', ...page },
    { path: '/docs/swagger-ui-init.js', type: SCRIPT, content: Buffer.from(scriptOf(document)) },
    ...LOADED.map(([name, type]) => ({
      path: `/docs/${name}`,
      type,
      content: readFileSync(resolve(`swagger-ui-dist/${name}`)),
    })),
  ];
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
