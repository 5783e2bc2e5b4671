import { knownMethod, routeTemplate, urlScheme } from './http-labels.js';

describe('knownMethod', () => {
  it.each([
    ['GET', 'GET'],
    ['PATCH', 'PATCH'],
    ['get', '_OTHER'],
    ['PROPFIND', '_OTHER'],
  ])('returns for %s: %s', (method, known) => {
    expect(knownMethod(method)).toBe(known);
  });
});

describe('urlScheme', () => {
  it.each([
    ['https', 'https'],
    ['http', 'http'],
    ['gopher', 'http'],
    ['', 'http'],
  ])('returns for "%s": %s', (protocol, scheme) => {
    expect(urlScheme(protocol)).toBe(scheme);
  });
});

describe('routeTemplate', () => {
  it.each([
    ['/v1/pets', '/v1/pets'],
    ['/v1/pets/:petId', '/v1/pets/{petId}'],
    ['/admin/keys/:id/ban', '/admin/keys/{id}/ban'],
    ['', ''],
  ])('returns for "%s": %s', (url, template) => {
    expect(routeTemplate(url)).toBe(template);
  });
});
