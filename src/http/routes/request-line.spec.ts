import FindMyWay from 'find-my-way';
import fc from 'fast-check';
import { knownMethod, routableTarget, routeTemplate, targetPath, urlScheme } from './request-line.js';

const isPublic = (path: string) => !/^\/(v1|admin)(\/|$)/.test(path);

describe('routableTarget', () => {
  it.each([
    ['/v1/pets?status=sold', '/v1/pets?status=sold'],
    ['/%761/pets/a%2Fb?name=%zz', '/%761/pets/a%2Fb?name=%zz'],
    ['/v1/pets/%zz', '/v1/pets/%25zz'],
    ['/v1/pets/%41%?a=/%/?b', '/v1/pets/%2541%25?a=/%/?b'],
    ['/%761/pets/%c3%28/name', '/%761/pets/%25c3%2528/name'],
    ['http://api.animal-store.example/v1/pets/%zz?limit=1', '/v1/pets/%25zz?limit=1'],
    ['HTTPS://api.animal-store.example', '/'],
    ['http://api.animal-store.example?limit=1', '/?limit=1'],
    ['/', '/'],
    ['/?name=/', '/?name=/'],
    ['/v1/pets/', '/v1/pets//'],
    ['/v1/pets/?limit=1', '/v1/pets//?limit=1'],
    ['/admin/keys//ban', '/admin/keys///ban'],
    ['/v1//pets/', '/v1///pets/'],
    ['/%761/pets/', '/%761/pets//'],
    ['//v1/pets', '//v1/pets'],
    ['/docs/', '/docs/'],
    ['*', '*'],
  ])('rewrites %s to %s', (target, routable) => {
    expect(routableTarget(target, isPublic)).toBe(routable);
  });

  it('returns a target that the router accepts', () => {
    const rejectUrl = (path: string) => {
      throw new Error(`The router refuses ${path}`);
    };
    const router = FindMyWay({ onBadUrl: rejectUrl });
    router.on('GET', '/v1/pets/:petId', () => {});
    const part = fc.constantFrom(...'/ /v1/pets/ % %z %c3 %28 %ff %25 ? # 7 é http:// : ['.split(' '));
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
        const target = routableTarget(parts.join(''), isPublic);
        expect(() =>
          router.lookup({ method: 'GET', url: target } as never, { end() {} } as never),
        ).not.toThrow();
      }),
      { numRuns: 2000 },
    );
  });
});

describe('targetPath', () => {
  it.each([
    ['/v1/pets', '/v1/pets'],
    ['/v1/pets?limit=1&status=sold', '/v1/pets'],
    ['/v1/pets#part', '/v1/pets'],
    ['http://api.animal-store.example/v1/pets?limit=1', '/v1/pets'],
    ['HTTPS://api.animal-store.example:8443/v1/pets', '/v1/pets'],
    ['http://api.animal-store.example', '/'],
    ['http://api.animal-store.example?limit=1', '/'],
    ['/docs?from=http://elsewhere.example/v1', '/docs'],
    ['?limit=1', '/'],
    ['', '/'],
  ])('returns for %s the path %s', (target, path) => {
    expect(targetPath(target)).toBe(path);
  });
});

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
