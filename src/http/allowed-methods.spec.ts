import { AllowedMethods } from './allowed-methods.js';

function allowedMethods(): AllowedMethods {
  const methods = new AllowedMethods();
  methods.add('POST', '/v1/pets');
  methods.add('HEAD', '/v1/pets');
  methods.add('GET', '/v1/pets');
  methods.add('GET', '/v1/pets/:petId');
  return methods;
}

test('AllowedMethods.of returns the methods of a path in alphabetical order, whatever the order of its routes', () => {
  expect(allowedMethods().of('/v1/pets')).toEqual(['GET', 'HEAD', 'POST']);
});

test('AllowedMethods.of returns the methods of a path with a parameter', () => {
  expect(allowedMethods().of('/v1/pets/7')).toEqual(['GET']);
  expect(allowedMethods().of('/v1/pets/%20')).toEqual(['GET']);
});

test('AllowedMethods.of decodes an escaped path', () => {
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
])('AllowedMethods.of returns nothing for a path without a route: %j', (path) => {
  expect(allowedMethods().of(path)).toEqual([]);
});
