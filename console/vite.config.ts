import { readFileSync } from 'node:fs';
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
    const fonts = Object.keys(bundle).filter((name) => name.endsWith('/inter-latin-wght-normal.woff2'));
    return fonts.map((name) => ({
      tag: 'link',
      injectTo: 'head' as const,
      attrs: { rel: 'preload', as: 'font', type: 'font/woff2', crossorigin: true, href: `./${name}` },
    }));
  },
};

/** The reference page has the same colours. */
const shareTokens: Plugin = {
  name: 'share-tokens',
  apply: 'build',
  buildStart() {
    const source = readFileSync(new URL('src/tokens.css', import.meta.url));
    this.emitFile({ type: 'asset', fileName: 'assets/tokens.css', source });
  },
};

export default defineConfig(({ command }) => ({
  base: command === 'build' ? './' : '/console/',
  plugins: [react(), preloadFont, replaceRoot, shareTokens],
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
    chunkSizeWarningLimit: 2000,
    license: { fileName: 'licenses.md' },
    rolldownOptions: {
      output: {
        // During a release, the page of one version asks replicas of another for its files. So names have no
        // hash, and one script contains all code and styles: parts of two versions would not fit each other.
        entryFileNames: 'assets/console.js',
        assetFileNames: 'assets/[name][extname]',
        codeSplitting: false,
      },
    },
  },
}));
