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
  testEnvironment: '<rootDir>/test/support/jest/environment.cjs',
  runtime: '<rootDir>/test/support/jest/runtime.cjs',
  maxWorkers: 2,
  // A bound for what hangs: on a machine with other work, the first application of a file may take long to
  // load.
  testTimeout: 60_000,
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
  transformIgnorePatterns: ['/node_modules/(?!@prisma/schema-engine-wasm/)'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
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
