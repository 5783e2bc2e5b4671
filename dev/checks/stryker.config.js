/**
 * Makes one small change at a time to the rules, and reports each change (mutant) that no spec beside them
 * detects.
 */
export default {
  mutate: ['src/**/rules/*.ts', '!**/*.spec.ts'],
  ignorePatterns: ['*', '!src/**', '!test/jest.*.js', '!test/support/jest/**', '!package.json'],
  testRunner: 'jest',
  jest: { configFile: 'test/jest.rules.config.js' },
  coverageAnalysis: 'perTest',
  reporters: ['clear-text', 'progress'],
  clearTextReporter: { reportTests: false },
  thresholds: { high: 100, low: 99, break: 99 },
};
