import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pageHeaders } from '../../http/responses/security-headers.js';
import type { StaticDocument } from './static-document.js';

const { resolve } = createRequire(import.meta.url);
/** The style sheet of the page, and what sets up Swagger UI. The policy forbids inline scripts and styles. */
const OWN_FILES = new URL('reference/', import.meta.url);
const SWAGGER_UI_FILES = ['swagger-ui.css', 'swagger-ui-bundle.js'];

/**
 * Returns the page, in which links are relative, because a proxy may have put a prefix before its path. It is
 * not translated: a translator moves texts out of React's nodes, so those of the response before would stay.
 */
const html = (folder: string) => `<!doctype html>
<html lang="en" translate="no">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="google" content="notranslate" />
    <title>Animal Store: reference</title>
    <link rel="stylesheet" href="${folder}swagger-ui.css" />
    <link rel="stylesheet" href="${folder}../console/assets/tokens.css" />
    <link rel="stylesheet" href="${folder}reference.css" />
    <script src="${folder}scheme.js"></script>
    <link rel="icon" type="image/svg+xml" href="${folder}../console/assets/icon.svg" />
  </head>
  <body>
    <header>
      <nav aria-label="Documents">
        <img src="${folder}../console/assets/icon.svg" alt="" />
        <a href="?">Store</a>
        <a href="?document=administration">Administration</a>
        <a href="${folder}../console">Console</a>
      </nav>
    </header>
    <div id="swagger-ui"></div>
    <script src="${folder}swagger-ui-bundle.js"></script>
    <script type="module" src="${folder}main.js"></script>
  </body>
</html>
`;

const file = (name: string, content: Buffer): StaticDocument => ({
  path: `/docs/${name}`,
  content,
});

/**
 * The page that shows the OpenAPI documents with Swagger UI, and the files that it loads.
 * `SwaggerModule.setup()` is not used, because its inline styles violate a strict policy, and it serves every
 * file of the package.
 */
export const REFERENCE_PAGE: StaticDocument[] = [
  ...Object.entries({ '/docs': 'docs/', '/docs/': './' }).map(([path, folder]) => ({
    path,
    type: 'text/html; charset=utf-8',
    content: Buffer.from(html(folder)),
    headers: pageHeaders(),
  })),
  ...SWAGGER_UI_FILES.map((name) => file(name, readFileSync(resolve(`swagger-ui-dist/${name}`)))),
  ...readdirSync(OWN_FILES).map((name) => file(name, readFileSync(new URL(name, OWN_FILES)))),
];
