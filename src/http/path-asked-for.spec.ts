import { pathAskedFor } from './path-asked-for.js';

describe('the path of a request target', () => {
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
  ])('%s is %s', (target, path) => {
    expect(pathAskedFor(target)).toBe(path);
  });
});
