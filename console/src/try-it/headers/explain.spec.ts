import administration from '../../../../admin-openapi.json';
import store from '../../../../openapi.json';
import { explainHeaders } from './explain';

/** Returns the explanation of one header as text, with its times in ISO 8601. */
function findMeaning(name: string, value: string, others: [string, string][] = []): string | undefined {
  const explained = explainHeaders([[name.toLowerCase(), value], ...others], {}).flatMap(
    ({ headers }) => headers,
  );
  return explained
    .find((header) => header.name === name)
    ?.explanation.map((part) => (typeof part === 'string' ? part : part.toISOString()))
    .join('');
}

describe('explainHeaders', () => {
  it.each([
    [
      'RateLimit-Policy',
      '"minute";q=60;w=60, "day";q=1000;w=86400',
      'The limit is 60 requests per minute and 1,000 requests per day.',
    ],
    ['Retry-After', '31', 'Wait 31 s before the next request.'],
    ['X-RateLimit-Reset', '1764892860', 'That window, or the ban, ends on 2025-12-05T00:01:00.000Z.'],
    ['Deprecation', '@1764892800', 'The operation is deprecated since 2025-12-05T00:00:00.000Z.'],
    [
      'Sunset',
      'Thu, 05 Dec 2030 00:00:00 GMT',
      'The operation is removed on 2030-12-05T00:00:00.000Z, and then responds with 410.',
    ],
    ['Sunset', 'soon', 'The operation is removed on soon, and then responds with 410.'],
    [
      'X-Api-Key-Expires',
      'Thu, 05 Dec 2030 00:00:00 GMT',
      'This API key expires on 2030-12-05T00:00:00.000Z.',
    ],
    ['X-Stability', 'beta', 'The operation may change with one month of notice.'],
    [
      'Link',
      '</v1/pets?limit=3&cursor=x>; rel="next", </v1/pets?limit=3>; rel="first"',
      'The next page: /v1/pets?limit=3&cursor=x · The first page: /v1/pets?limit=3',
    ],
    [
      'Link',
      '</v1/pets?status=available>; rel="successor-version", </docs#/pets/getPet>; rel="deprecation"; type="text/html"',
      'What replaces the operation: /v1/pets?status=available · About the deprecation: /docs#/pets/getPet',
    ],
    [
      'WWW-Authenticate',
      'Bearer realm="animal-store", error="invalid_token", error_description="The API key is unknown"',
      'The API key was not accepted: The API key is unknown.',
    ],
    [
      'WWW-Authenticate',
      'Bearer realm="animal-store"',
      'The request needs an API key, as Authorization: Bearer and the key.',
    ],
    [
      'Cache-Control',
      'private, no-cache',
      'Only a private cache, such as a browser’s, may store the response. A cache asks the service before each reuse.',
    ],
    ['Cache-Control', 'max-age=60', 'The response is fresh for 1 min.'],
    ['Content-Type', 'application/json; charset=utf-8', 'The body is JSON in UTF-8.'],
  ])('explains %s: %s', (name, value, meaning) => {
    expect(findMeaning(name, value)).toBe(meaning);
  });

  it('explains RateLimit with the limits of RateLimit-Policy', () => {
    const value = '"minute";r=59;t=31, "day";r=959;t=52310';
    const policy: [string, string] = ['ratelimit-policy', '"minute";q=60;w=60, "day";q=1000;w=86400'];
    expect(findMeaning('RateLimit', value, [policy])).toBe(
      '59 of 60 left this minute, full again in 31 s. 959 of 1,000 left today (UTC), full again in 14 h 31 min.',
    );
    expect(findMeaning('RateLimit', '"hour";r=1;t=60')).toBe(
      '1 left in the window “hour”, full again in 1 min.',
    );
  });

  it('has an explanation of every header of the documents', () => {
    const responses = [store, administration].flatMap(({ paths, components }) => [
      ...Object.values(
        paths as Record<string, Record<string, { responses: Record<string, { headers?: object }> }>>,
      )
        .flatMap((methods) => Object.values(methods))
        .flatMap((operation) => Object.values(operation.responses)),
      ...Object.values(components.responses as Record<string, { headers?: object }>),
    ]);
    const names = [...new Set(responses.flatMap(({ headers = {} }) => Object.keys(headers)))];
    expect(names.length).toBeGreaterThan(10);
    const groups = explainHeaders(
      names.map((name) => [name.toLowerCase(), '1']),
      {},
    );
    expect(groups.find(({ title }) => title === 'Other')).toBeUndefined();
    expect(groups.flatMap(({ headers }) => headers.map(({ name }) => name)).toSorted()).toEqual(
      names.toSorted(),
    );
  });

  it('shows every header, and says of an unknown one that it is unknown unless the document describes it', () => {
    expect(
      explainHeaders(
        [
          ['x-new-thing', '1'],
          ['x-odd', '2'],
          ['etag', '"a"'],
        ],
        { 'x-new-thing': 'A new thing.' },
      ),
    ).toMatchObject([
      { title: 'Resource', headers: [{ name: 'ETag', value: '"a"' }] },
      {
        title: 'Other',
        headers: [
          { name: 'X-New-Thing', value: '1', explanation: ['A new thing.'] },
          { name: 'X-Odd', value: '2', explanation: ['The console has no explanation of this header.'] },
        ],
      },
    ]);
  });
});
