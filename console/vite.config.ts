import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

/**
 * The service replaces it in the page of each path, so that links are relative behind the prefix of a proxy
 * too.
 */
const ROOT = '%ROOT%';

const replaceRoot: Plugin = {
  name: 'replace-root',
  apply: 'serve',
  transformIndexHtml: (html) => html.replaceAll(ROOT, '/'),
};

/** Preloads the font of most texts: if it came after they are shown, it would move them. */
const preloadFont: Plugin = {
  name: 'preload-font',
  transformIndexHtml(_html, { bundle = {} }) {
    const fonts = Object.keys(bundle).filter((name) => /inter-latin-wght-normal-.*\.woff2$/.test(name));
    return fonts.map((name) => ({
      tag: 'link',
      injectTo: 'head' as const,
      attrs: { rel: 'preload', as: 'font', type: 'font/woff2', crossorigin: true, href: `./${name}` },
    }));
  },
};

export default defineConfig(({ command }) => ({
  base: command === 'build' ? './' : '/console/',
  plugins: [react(), preloadFont, replaceRoot],
  resolve: {
    alias: { 'animal-store-client': new URL('../client/src/index.ts', import.meta.url).pathname },
  },
  // `npm run dev --workspace console`, beside the service on its default port.
  server: { proxy: { '^/(v1|admin|docs|openapi.json|admin-openapi.json)': 'http://127.0.0.1:3000' } },
  // The service replaces this in each response.
  html: { cspNonce: '%NONCE%' },
  build: {
    target: 'es2023',
    // Images and fonts as data: URLs would need another source in the content security policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    license: { fileName: 'licenses.md' },
    rolldownOptions: {
      output: {
        codeSplitting: {
          // The files are few, because each counts against the limit of public paths: what signing in needs,
          // what pages share, and each page.
          groups: [
            { name: 'start', tags: ['$initial'], priority: 1 },
            { name: 'shared', minShareCount: 2 },
          ],
        },
      },
    },
  },
}));
