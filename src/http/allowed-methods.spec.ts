import { AllowedMethods } from './allowed-methods.js';

function allowedMethods(): AllowedMethods {
  const methods = new AllowedMethods();
  methods.add('POST', '/v1/pets');
  methods.add('HEAD', '/v1/pets');
  methods.add('GET', '/v1/pets');
  methods.add('GET', '/v1/pets/:petId');
  return methods;
}

test('the methods of a path are told in alphabetical order, whatever the order of its routes', () => {
  expect(allowedMethods().of('/v1/pets')).toEqual(['GET', 'HEAD', 'POST']);
});

test('a path with a parameter has its own', () => {
  expect(allowedMethods().of('/v1/pets/7')).toEqual(['GET']);
  expect(allowedMethods().of('/v1/pets/%20')).toEqual(['GET']);
});

test('an escaped path is the path it stands for', () => {
  expect(allowedMethods().of('/%761/pets')).toEqual(['GET', 'HEAD', 'POST']);
});

test.each([
  '/',
  '/v1',
  '/v1/pets/',
  '/v1/pets/7/name',
  '/V1/pets',
  '/v1/dogs',
  '/v1/pets/%zz',
  '/v1/%zz',
  '*',
  '',
])('a path of no route has none: %j', (path) => {
  expect(allowedMethods().of(path)).toEqual([]);
});
