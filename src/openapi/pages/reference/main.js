import { exactIntegers } from './exact-integers.js';
import { layout } from './layout.js';
import { plainComponents } from './plain-components.js';
import { references } from './references.js';
import { serverResponse } from './server-response.js';
import { sessionKey } from './session-key.js';
import { sharedHeaders } from './shared-headers.js';
import { snippets } from './snippets.js';

/** Links are relative, because a proxy may have put a prefix before the path of the page. */
const beside = (file) => new URL(`../${file}`, import.meta.url).href;
const isAdministration = new URLSearchParams(location.search).get('document') === 'administration';

document.querySelector(`nav [href="${isAdministration ? '?document=administration' : '?'}"]`).ariaCurrent =
  'page';

const { requestInterceptor, plugin: exactIntegersPlugin } = exactIntegers();
globalThis.SwaggerUIBundle({
  dom_id: '#swagger-ui',
  url: beside(isAdministration ? 'admin-openapi.json' : 'openapi.json'),
  layout: 'ReferenceLayout',
  deepLinking: true,
  // The fields of a schema are open, and the list of all schemas is closed.
  defaultModelExpandDepth: 9,
  defaultModelsExpandDepth: 0,
  tryItOutEnabled: true,
  displayRequestDuration: true,
  syntaxHighlight: { theme: 'obsidian' },
  validatorUrl: null,
  requestInterceptor,
  plugins: [
    exactIntegersPlugin,
    layout,
    plainComponents,
    references,
    sessionKey,
    sharedHeaders,
    snippets,
    serverResponse,
  ],
});
