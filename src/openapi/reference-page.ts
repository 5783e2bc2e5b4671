import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pageHeaders } from '../server/security-headers.js';
import type { StaticDocument } from './static-document.js';

const SCRIPT = 'application/javascript; charset=utf-8';
const { resolve } = createRequire(import.meta.url);
const swaggerUi = (name: string) => readFileSync(resolve(`swagger-ui-dist/${name}`));

/** Returns the page, in which links are relative, because a proxy may have put a prefix before its path. */
const html = (folder: string) => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>Animal Store: reference</title>
    <link rel="stylesheet" href="${folder}swagger-ui.css" />
    <link rel="icon" type="image/png" href="${folder}favicon-32x32.png" sizes="32x32" />
  </head>
  <body>
    <div id="swagger-ui"></div>
    <script src="${folder}swagger-ui-bundle.js"></script>
    <script src="${folder}swagger-ui-standalone-preset.js"></script>
    <script src="${folder}show-documents.js"></script>
  </body>
</html>
`;

/** Configures Swagger UI for reading: the console sends requests. It is a file, because the policy forbids inline scripts. */
const SHOW_DOCUMENTS = `const beside = (file) => new URL('../' + file, document.currentScript.src).href;
SwaggerUIBundle({
  dom_id: '#swagger-ui',
  urls: [
    { url: beside('openapi.json'), name: 'Store' },
    { url: beside('admin-openapi.json'), name: 'Administration' },
  ],
  deepLinking: true,
  supportedSubmitMethods: [],
  validatorUrl: null,
  presets: [SwaggerUIBundle.presets.apis, SwaggerUIStandalonePreset],
  layout: 'StandaloneLayout',
});
`;

/** The hash of the one inline style of Swagger UI, in the logo of its top bar. A browser test fails when a new version changes it. */
const STYLE_OF_LOGO = "'sha256-RL3ie0nH+Lzz2YNqQN83mnU0J1ot4QL7b99vMdIX99w='";

const FILES = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'favicon-32x32.png': 'image/png',
  'swagger-ui-bundle.js': SCRIPT,
  'swagger-ui-standalone-preset.js': SCRIPT,
};

/**
 * The page that shows the OpenAPI documents with Swagger UI, and the files that it loads. `SwaggerModule.setup()` is not used, because
 * its inline styles violate a strict content security policy, and it serves every file of the package.
 */
export const REFERENCE_PAGE: StaticDocument[] = [
  ...Object.entries({ '/docs': 'docs/', '/docs/': './' }).map(([path, folder]) => ({
    path,
    type: 'text/html; charset=utf-8',
    content: Buffer.from(html(folder)),
    headers: pageHeaders(STYLE_OF_LOGO),
  })),
  ...Object.entries(FILES).map(([name, type]) => ({ path: `/docs/${name}`, type, content: swaggerUi(name) })),
  { path: '/docs/show-documents.js', type: SCRIPT, content: Buffer.from(SHOW_DOCUMENTS) },
];
