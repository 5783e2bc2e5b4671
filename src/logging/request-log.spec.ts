import { decisionWord } from './request-log.js';

const request = { isShed: false, isStatus: false };
const allowed = { allowed: true, ban: null, degraded: false };
const denied = { ...allowed, allowed: false };
const ban = { untilMs: Date.UTC(2027, 0, 1), started: true };

describe('decisionWord', () => {
  it('returns "allowed" for a counted request', () => {
    expect(decisionWord({ ...request, decision: allowed })).toBe('allowed');
  });

  it('returns "denied" for a request over the limit, with or without the store, and for GET /v1/rate-limit', () => {
    expect(decisionWord({ ...request, decision: denied })).toBe('denied');
    expect(decisionWord({ ...request, decision: denied, isStatus: true })).toBe('denied');
    expect(decisionWord({ ...request, decision: { ...denied, degraded: true } })).toBe('denied');
  });

  it('returns "banned" for a request that started a ban or came during one', () => {
    expect(decisionWord({ ...request, decision: { ...denied, ban } })).toBe('banned');
  });

  it('returns "local" for a request that was allowed without the store', () => {
    expect(decisionWord({ ...request, decision: { ...allowed, degraded: true } })).toBe('local');
  });

  it('returns "uncounted" for GET /v1/rate-limit, even during a ban, and for a request without a decision', () => {
    expect(decisionWord({ ...request, decision: { ...allowed, ban }, isStatus: true })).toBe('uncounted');
    expect(decisionWord({ ...request, decision: null })).toBe('uncounted');
  });

  it('returns "shed" for a request that was shed', () => {
    expect(decisionWord({ ...request, decision: null, isShed: true })).toBe('shed');
  });
});
