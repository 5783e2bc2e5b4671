import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { OpenAPIObject } from '@nestjs/swagger';
import type { StaticDocument } from './static-document.js';

const CSS = 'text/css; charset=utf-8';
const SCRIPT = 'application/javascript; charset=utf-8';
const { resolve } = createRequire(import.meta.url);
const swaggerUi = (name: string) => readFileSync(resolve(`swagger-ui-dist/${name}`));
const own = (name: string) => readFileSync(new URL(`./browser/${name}`, import.meta.url));

/** The files that the pages load. Other files of Swagger UI are not served, as they reveal its version. */
const ASSETS: StaticDocument[] = [
  { path: '/docs/swagger-ui.css', type: CSS, content: swaggerUi('swagger-ui.css') },
  { path: '/docs/reference-page.css', type: CSS, content: own('reference-page.css') },
  { path: '/docs/favicon-32x32.png', type: 'image/png', content: swaggerUi('favicon-32x32.png') },
  { path: '/docs/swagger-ui-bundle.js', type: SCRIPT, content: swaggerUi('swagger-ui-bundle.js') },
  { path: '/docs/reference-page.js', type: SCRIPT, content: own('reference-page.js') },
];

/** A page that shows one document. */
export interface ReferencePage {
  path: string;
  /** The text of links to this page. */
  name: string;
  /** The name of the document's file at the root. */
  file: string;
  /** The page may call this server and the servers of the document only. */
  document: OpenAPIObject;
}

/**
 * Returns pages that show OpenAPI documents with Swagger UI, and the files that they load. `SwaggerModule.setup()` is not used, as its
 * inline styles violate a strict content security policy.
 */
export function referencePages(pages: ReferencePage[]): StaticDocument[] {
  return [...ASSETS, ...pages.flatMap((page) => [...pageOf(page, pages), scriptOf(page)])];
}

function pageOf(page: ReferencePage, pages: ReferencePage[]): StaticDocument[] {
  const { path, document } = page;
  const served = {
    type: 'text/html; charset=utf-8',
    content: Buffer.from(htmlOf(page, pages)),
    headers: { 'Content-Security-Policy': policyOf(document), 'Referrer-Policy': 'no-referrer' },
  };
  return [
    { path, ...served },
    { path: `${path}/`, ...served },
  ];
}

function htmlOf(page: ReferencePage, pages: ReferencePage[]): string {
  const links = pages.map(({ path, name }) => {
    const current = path === page.path ? ' aria-current="page"' : '';
    return `<a href="${path}"${current}>${name}</a>`;
  });
  const files = pages.map(({ file }) => `<a class="file" href="/${file}">${file}</a>`);
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <title>${page.document.info.title}</title>
    <link rel="stylesheet" href="/docs/swagger-ui.css" />
    <link rel="stylesheet" href="/docs/reference-page.css" />
    <link rel="icon" type="image/png" href="/docs/favicon-32x32.png" sizes="32x32" />
    <script src="/docs/reference-page.js"></script>
  </head>
  <body>
    <nav class="documents" aria-label="Documents">
      ${[...links, ...files].join('\n      ')}
    </nav>
    <div id="swagger-ui"></div>
    <script src="/docs/swagger-ui-bundle.js"></script>
    <script src="${scriptPath(page)}"></script>
  </body>
</html>
`;
}

/** Returns the content security policy. The icons of Swagger UI are `data:` URLs in its style sheet. */
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

/** Returns the script that shows the document; the policy forbids inline scripts. */
function scriptOf(page: ReferencePage): StaticDocument {
  const content = `showReference(${JSON.stringify(page.document, null, 2)});\n`;
  return { path: scriptPath(page), type: SCRIPT, content: Buffer.from(content) };
}

function scriptPath({ file }: ReferencePage): string {
  return `/docs/show-${file.replace(/\.json$/, '.js')}`;
}
