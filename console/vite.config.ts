import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

export default defineConfig({
  base: '/console/',
  plugins: [react()],
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
          // The files are few, because each counts against the limit of public paths: what signing in needs, what pages share, and each page.
          groups: [
            { name: 'start', tags: ['$initial'], priority: 1 },
            { name: 'shared', minShareCount: 2 },
          ],
        },
      },
    },
  },
});
