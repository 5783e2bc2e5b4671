import type { FastifyRequest } from 'fastify';
import { decisionWord } from './request-log.js';

const request = { isShed: false, ownLimit: null };
const allowed = { allowed: true, ban: null, degraded: false };
const denied = { ...allowed, allowed: false };
const ban = { untilMs: Date.UTC(2027, 0, 1), started: true };

describe('decisionWord', () => {
  it.each([
    ['allowed', 'a counted request', { decision: allowed }],
    ['denied', 'a request over the limit', { decision: denied }],
    ['denied', 'a request over the limit without the store', { decision: { ...denied, degraded: true } }],
    ['denied', 'GET /v1/rate-limit over its limit', { decision: denied, ownLimit: {} }],
    ['banned', 'a request that started a ban or came during one', { decision: { ...denied, ban } }],
    [
      'degraded',
      'a request that was allowed without the store',
      { decision: { ...allowed, degraded: true } },
    ],
    ['uncounted', 'GET /v1/rate-limit, even during a ban', { decision: { ...allowed, ban }, ownLimit: {} }],
    ['uncounted', 'a request without a decision', { decision: null }],
    ['shed', 'a request that was shed', { decision: null, isShed: true }],
  ])('returns "%s" for %s', (word, _request, fields) => {
    expect(decisionWord({ ...request, ...fields } as FastifyRequest)).toBe(word);
  });
});
