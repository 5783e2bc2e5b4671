import quick from './jest.config.js';

/**
 * The image, with the services of the Compose file and the pods of Kubernetes in it. Builds the Dockerfile,
 * so it needs root on Debian and what `.ci/run` installs there.
 */
export default {
  ...quick,
  testMatch: ['<rootDir>/test/**/*.image-spec.ts'],
  globalSetup: '<rootDir>/test/deploy/image/setup.mjs',
  globalTeardown: '<rootDir>/test/deploy/image/teardown.mjs',
  // They watch how long things take.
  maxWorkers: 1,
  testTimeout: 120_000,
};
