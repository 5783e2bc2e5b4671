import type { HttpResponse } from './http.js';

const RATE_LIMIT_FORMS = {
  'X-RateLimit-Limit': /^\d+$/,
  'X-RateLimit-Remaining': /^\d+$/,
  'X-RateLimit-Reset': /^\d{10}$/,
  'RateLimit-Policy': /^"minute";q=\d+;w=60(, "day";q=\d+;w=86400)?$/,
  RateLimit: /^"minute";r=\d+;t=\d+(, "day";r=\d+;t=\d+)?$/,
};

/** The rate-limit headers of every response under a protected path. */
export const RATE_LIMIT_HEADERS = Object.keys(RATE_LIMIT_FORMS);

export function expectRateLimitHeaders({ headers }: Pick<HttpResponse, 'headers'>): void {
  for (const [name, form] of Object.entries(RATE_LIMIT_FORMS)) {
    expect(`${name}: ${headers.get(name)}`).toMatch(new RegExp(form.source.replace('^', `^${name}: `)));
  }
}

export function expectNoRateLimitHeaders({ headers }: Pick<HttpResponse, 'headers'>): void {
  expect(RATE_LIMIT_HEADERS.filter((name) => headers.has(name))).toStrictEqual([]);
}

/**
 * Expects a policy that forbids running or framing the response, and no version, whose vulnerabilities could
 * be looked up.
 */
export function expectHardened({ headers }: Pick<HttpResponse, 'headers'>): void {
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  expect(headers.get('content-security-policy')).toBe("default-src 'none'; frame-ancestors 'none'");
  const banners = ['server', 'x-powered-by', 'via', 'x-aspnet-version', 'x-runtime'];
  expect(banners.filter((name) => headers.has(name))).toStrictEqual([]);
}

/** Expects an error as JSON with exactly three fields, and with the status of the response in its body. */
export function expectError(
  response: HttpResponse,
  status: number,
  code: string,
  message: unknown = expect.any(String),
): void {
  expect({ status: response.status, body: response.json }).toEqual({
    status,
    body: { code, message, status },
  });
  expect(response.headers.get('content-type')).toMatch(/^application\/json(; charset=utf-8)?$/);
  expect(response.headers.get('x-request-id')).toMatch(/^\S+$/);
}

/** Returns the message of a 5xx: what is wrong, and the request id by which the request is found. */
export function quotingId(message: string, { headers }: Pick<HttpResponse, 'headers'>): string {
  const id = headers.get('x-request-id');
  return `${message} If the problem persists, contact us and quote request id ${id}.`;
}

/** Expects 400 `invalid_request` that names these faults, separated by semicolons. */
export function expectInvalid(response: HttpResponse, faults: string | RegExp): void {
  expectError(response, 400, 'invalid_request', expect.stringMatching(/^The request is invalid: .*\.$/s));
  const named: string = response.json.message.slice('The request is invalid: '.length, -1);
  if (typeof faults === 'string') {
    expect(named).toBe(faults);
  } else {
    expect(named).toMatch(faults);
  }
}
