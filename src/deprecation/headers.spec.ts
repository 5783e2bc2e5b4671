import { deprecationHeaders, lifecycleHeaders } from './headers.js';

const DEPRECATION = {
  since: new Date('2025-12-05T00:00:00Z'),
  removal: new Date('2030-12-05T00:00:00Z'),
  replacement: '/v1/pets?status=available',
  docs: '/docs#/pets/getPet',
};

test('the headers tell since when, until when, what replaces it and where to read of it', () => {
  expect(deprecationHeaders(DEPRECATION)).toEqual({
    Deprecation: '@1764892800',
    Sunset: 'Thu, 05 Dec 2030 00:00:00 GMT',
    Link: '</v1/pets?status=available>; rel="successor-version", </docs#/pets/getPet>; rel="deprecation"; type="text/html"',
  });
});

test('both dates are whole seconds, Deprecation as RFC 9745 and Sunset as RFC 8594 write them', () => {
  const headers = deprecationHeaders({
    ...DEPRECATION,
    since: new Date('2024-02-29T23:59:59.999Z'),
    removal: new Date('2031-01-02T03:04:05.678Z'),
  });
  expect(headers['Deprecation']).toBe('@1709251199');
  expect(headers['Sunset']).toBe('Thu, 02 Jan 2031 03:04:05 GMT');
});

test('what is stable and stays needs no headers', () => {
  expect(lifecycleHeaders({})).toEqual({});
  expect(lifecycleHeaders({ stability: 'stable' })).toEqual({});
});

test('what is not stable says so, beside what tells of its deprecation', () => {
  expect(lifecycleHeaders({ stability: 'beta' })).toEqual({ 'X-Stability': 'beta' });
  expect(lifecycleHeaders({ stability: 'experimental', deprecation: DEPRECATION })).toEqual({
    'X-Stability': 'experimental',
    ...deprecationHeaders(DEPRECATION),
  });
});
