import quick from './jest.config.js';

/** What takes longer: processes that are started, killed and upgraded; large catalogues. */
export default { ...quick, testMatch: ['<rootDir>/test/**/*.full-spec.ts'], testTimeout: 300_000 };
