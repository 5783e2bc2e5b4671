/**
 * The quick tests: rules beside their code, and promises of the running service. `npm run test:full` has the
 * rest.
 */

// No promise depends on the time zone of the process, which UTC would hide.
process.env.TZ = 'America/New_York';

export default {
  rootDir: '..',
  testMatch: [
    '<rootDir>/src/**/*.spec.ts',
    '<rootDir>/console/src/**/*.spec.ts',
    '<rootDir>/test/**/*.spec.ts',
  ],
  globalSetup: '<rootDir>/test/support/global-setup.mjs',
  globalTeardown: '<rootDir>/test/support/global-teardown.mjs',
  testEnvironment: 'node',
  maxWorkers: 2,
  // A bound for what hangs: on a machine with other work, the first application of a file may take long to
  // load.
  testTimeout: 60_000,
  // NestJS is ESM, @nestjs/throttler is CommonJS that requires it: below Node 24.9 Jest cannot load both as
  // they are.
  transform: {
    '^.+\\.m?[jt]s$': [
      '@swc/jest',
      {
        jsc: {
          target: 'es2023',
          parser: { syntax: 'typescript', decorators: true },
          transform: { legacyDecorator: true, decoratorMetadata: true },
        },
        module: { type: 'commonjs' },
      },
    ],
  },
  transformIgnorePatterns: [
    '/node_modules/(?!(@nestjs|@opentelemetry/otlp-exporter-base|@prisma/schema-engine-wasm|' +
      'lossless-json|get-port)/)',
  ],
  moduleNameMapper: {
    '^(\\.{1,2}/.*)\\.js$': '$1',
    '^@prisma/client/runtime/(.*)\\.mjs$': '@prisma/client/runtime/$1.js',
    // Each test file loads its modules anew. These packages ship the same code in one file instead of 650.
    '^es-toolkit/compat$': '<rootDir>/node_modules/es-toolkit/dist/browser.global.js',
    '^rxjs(/operators)?$': '<rootDir>/node_modules/rxjs/dist/bundles/rxjs.umd.js',
  },
  modulePathIgnorePatterns: [
    '<rootDir>/build/',
    '<rootDir>/dist/',
    '<rootDir>/.wireit/',
    '<rootDir>/.stryker-tmp/',
    '<rootDir>/.data/',
    '<rootDir>/bench/',
    '<rootDir>/client/',
  ],
};
