import quick from './jest.config.js';

/** What takes longer: processes that are started, killed and upgraded; large catalogues. */
export default {
  ...quick,
  testMatch: ['<rootDir>/test/**/*.full-spec.ts'],
  // Many of them wait for deadlines most of the time.
  maxWorkers: 3,
  testTimeout: 300_000,
};
