import quick from './jest.config.js';

/** The rules alone, which need neither a build nor a database. */
export default {
  ...quick,
  testMatch: ['<rootDir>/src/**/rules/*.spec.ts'],
  globalSetup: undefined,
  globalTeardown: undefined,
};
