import { loggablePath, loggableUserAgent } from './loggable.js';

describe('loggablePath', () => {
  it.each([
    ['its query', '/v1/pets?limit=3', '/v1/pets'],
    ['more than its first 256 characters', `/${'x'.repeat(300)}`, `/${'x'.repeat(255)}…`],
    ['keys', '/v1/pets/ask_live_abc123', '/v1/pets/ask_live_…'],
    ['keys that are percent-encoded', '/v1/a%73k%5Flive%5f%61bC123%2F', '/v1/ask_live_…%2F'],
    ['keys that are percent-encoded twice', '/v1/a%2573k_test_abc%252531', '/v1/ask_test_…'],
    ['any change if it has none', '/v1/%73k_%61/a%73k_live_', '/v1/%73k_%61/a%73k_live_'],
  ])('returns the path without %s', (_what, originalUrl, path) => {
    expect(loggablePath({ originalUrl })).toBe(path);
  });
});

describe('loggableUserAgent', () => {
  it.each([
    ['as it is', 'curl/8.5.0', 'curl/8.5.0'],
    ['as undefined when there is none', undefined, undefined],
    ['without more than its first 256 characters', 'x'.repeat(300), 'x'.repeat(256)],
    ['without control characters', 'a\tb\u009b31mc\u007fd', 'ab31mcd'],
    ['without keys', 'my ask_live_abc123 key', 'my ask_live_… key'],
    ['without a key that is percent-encoded', 'my a%73k_live_abc123 key', 'my ask_live_… key'],
    ['without a key that contains control characters', 'ask_\u0080live_abc123', 'ask_live_…'],
    [
      'without a key that is cut off',
      `${'x'.repeat(240)} ask_test_abc123def456`,
      `${'x'.repeat(240)} ask_test_…`,
    ],
  ])('returns the header %s', (_how, userAgent, shown) => {
    expect(loggableUserAgent({ headers: { 'user-agent': userAgent } })).toBe(shown);
  });
});
