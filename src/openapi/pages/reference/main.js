import { exactIntegers } from './exact-integers.js';
import { plainComponents } from './plain-components.js';
import { sessionKey } from './session-key.js';
import { sharedHeaders } from './shared-headers.js';
import { LANGUAGES, snippets } from './snippets.js';

/** Links are relative, because a proxy may have put a prefix before the path of the page. */
const beside = (file) => new URL(`../${file}`, import.meta.url).href;
const isAdministration = new URLSearchParams(location.search).get('document') === 'administration';

document.querySelector(`nav [href="${isAdministration ? '?document=administration' : '?'}"]`).ariaCurrent =
  'page';

const dark = matchMedia('(prefers-color-scheme: dark)');
const showScheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', showScheme);
showScheme();

const { requestInterceptor, plugin: exactIntegersPlugin } = exactIntegers();
globalThis.SwaggerUIBundle({
  dom_id: '#swagger-ui',
  url: beside(isAdministration ? 'admin-openapi.json' : 'openapi.json'),
  deepLinking: true,
  tryItOutEnabled: true,
  displayRequestDuration: true,
  syntaxHighlight: { theme: 'obsidian' },
  requestSnippetsEnabled: true,
  requestSnippets: { generators: LANGUAGES, languages: Object.keys(LANGUAGES), defaultExpanded: true },
  validatorUrl: null,
  requestInterceptor,
  plugins: [exactIntegersPlugin, plainComponents, sessionKey, sharedHeaders, snippets],
});
