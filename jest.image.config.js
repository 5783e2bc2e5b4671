import quick from './jest.config.js';

/** The image, and the services of the Compose file in it. Builds the Dockerfile, so it needs root on Debian and what `.ci/run` installs there. */
export default {
  ...quick,
  testMatch: ['<rootDir>/test/image/**/*.image-spec.ts'],
  globalSetup: undefined,
  globalTeardown: undefined,
  testTimeout: 120_000,
};
