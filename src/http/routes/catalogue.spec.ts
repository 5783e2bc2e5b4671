import { statusOfCode } from './catalogue.js';

/** The codes of errors that the client makes itself; docs/versioning.md reserves them. */
const CODES_OF_CLIENT = new Set(['no_response', 'unexpected_response', 'rate_limit_wait']);

describe('the error codes', () => {
  it('differ from those that the client makes itself', () => {
    expect(Object.keys(statusOfCode).filter((code) => CODES_OF_CLIENT.has(code))).toStrictEqual([]);
  });

  it('are words of lower case with an error status', () => {
    for (const [code, status] of Object.entries(statusOfCode)) {
      expect(code).toMatch(/^[a-z]+(_[a-z]+)*$/);
      expect(status).toBeGreaterThanOrEqual(400);
    }
  });
});
