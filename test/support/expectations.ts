import type { Answer } from './http.js';

const RATE_LIMIT_FORMS = {
  'X-RateLimit-Limit': /^\d+$/,
  'X-RateLimit-Remaining': /^\d+$/,
  'X-RateLimit-Reset': /^\d{10}$/,
  'RateLimit-Policy': /^"minute";q=\d+;w=60(, "day";q=\d+;w=86400)?$/,
  RateLimit: /^"minute";r=\d+;t=\d+(, "day";r=\d+;t=\d+)?$/,
};

/** The headers that tell of the limits on every answer under a protected path. */
export const RATE_LIMIT_HEADERS = Object.keys(RATE_LIMIT_FORMS);

export function expectRateLimitHeaders({ headers }: Pick<Answer, 'headers'>): void {
  for (const [name, form] of Object.entries(RATE_LIMIT_FORMS)) {
    expect(`${name}: ${headers.get(name)}`).toMatch(new RegExp(form.source.replace('^', `^${name}: `)));
  }
}

export function expectNoRateLimitHeaders({ headers }: Pick<Answer, 'headers'>): void {
  expect(RATE_LIMIT_HEADERS.filter((name) => headers.has(name))).toEqual([]);
}

/** An error has the three fields and no fourth, is JSON, and its body tells the status of its response. */
export function expectError(
  answer: Answer,
  status: number,
  code: string,
  message: unknown = expect.any(String),
): void {
  expect({ status: answer.status, body: answer.json }).toEqual({ status, body: { code, message, status } });
  expect(answer.headers.get('content-type')).toMatch(/^application\/json(; charset=utf-8)?$/);
  expect(answer.headers.get('x-request-id')).toMatch(/^\S+$/);
}
