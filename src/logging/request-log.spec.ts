import { decisionWord, loggableAddress, loggablePath, loggableUserAgent } from './request-log.js';

const request = { isShed: false, isStatus: false };
const allowed = { allowed: true, ban: null, degraded: false };
const denied = { ...allowed, allowed: false };
const ban = { untilMs: Date.UTC(2027, 0, 1), started: true };

describe('decisionWord', () => {
  it.each([
    ['allowed', 'a counted request', { decision: allowed }],
    ['denied', 'a request over the limit', { decision: denied }],
    ['denied', 'a request over the limit without the store', { decision: { ...denied, degraded: true } }],
    ['denied', 'GET /v1/rate-limit over its limit', { decision: denied, isStatus: true }],
    ['banned', 'a request that started a ban or came during one', { decision: { ...denied, ban } }],
    ['local', 'a request that was allowed without the store', { decision: { ...allowed, degraded: true } }],
    ['uncounted', 'GET /v1/rate-limit, even during a ban', { decision: { ...allowed, ban }, isStatus: true }],
    ['uncounted', 'a request without a decision', { decision: null }],
    ['shed', 'a request that was shed', { decision: null, isShed: true }],
  ])('returns "%s" for %s', (word, _request, fields) => {
    expect(decisionWord({ ...request, ...fields })).toBe(word);
  });
});

describe('loggablePath', () => {
  it('returns the path without its query', () => {
    expect(loggablePath({ originalUrl: '/v1/pets?limit=3' })).toBe('/v1/pets');
  });

  it('returns only the first 256 characters of a path', () => {
    expect(loggablePath({ originalUrl: `/${'x'.repeat(300)}` })).toBe(`/${'x'.repeat(255)}…`);
  });

  it('returns the path without keys', () => {
    expect(loggablePath({ originalUrl: '/v1/pets/ask_live_abc123' })).toBe('/v1/pets/ask_live_…');
  });
});

describe('loggableAddress', () => {
  it('returns an address, and "unknown" for anything else', () => {
    expect(loggableAddress({ ip: '2001:db8::1' })).toBe('2001:db8::1');
    expect(loggableAddress({ ip: 'nonsense here' })).toBe('unknown');
  });
});

describe('loggableUserAgent', () => {
  const shown = (userAgent?: string) => loggableUserAgent({ headers: { 'user-agent': userAgent } });

  it('returns the header as it is', () => {
    expect(shown('curl/8.5.0')).toBe('curl/8.5.0');
  });

  it('returns undefined when there is no header', () => {
    expect(shown()).toBeUndefined();
  });

  it('returns only the first 256 characters', () => {
    expect(shown('x'.repeat(300))).toBe('x'.repeat(256));
  });

  it('returns the header without control characters', () => {
    expect(shown('a\tb\u009b31mc\u007fd')).toBe('ab31mcd');
  });

  it('returns the header without keys, even if they contain control characters or are cut off', () => {
    expect(shown('my ask_live_abc123 key')).toBe('my ask_live_… key');
    expect(shown('ask_\u0080live_abc123')).toBe('ask_live_…');
    expect(shown(`${'x'.repeat(240)} ask_test_abc123def456`)).toBe(`${'x'.repeat(240)} ask_test_…`);
  });
});
