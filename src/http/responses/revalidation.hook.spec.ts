import { entityTag, namesTag } from './revalidation.hook.js';

test('entityTag returns a quoted tag that is the same for the same body, and differs for another', () => {
  expect(entityTag('[]')).toMatch(/^"[\w-]{27}"$/);
  expect(entityTag('[]')).toBe(entityTag('[]'));
  expect(entityTag('[]')).not.toBe(entityTag('[ ]'));
  expect(entityTag('[]', '</a>; rel="next"')).not.toBe(entityTag('[]'));
});

test.each([
  ['"a"', true],
  ['W/"a"', true],
  ['"b", "a"', true],
  ['"b",W/"a","c"', true],
  ['"a-gzip"', true],
  ['"a"-gzip', true],
  ['W/"a-br"', true],
  ['"b-gzip", "a-zstd"', true],
  ['"a--gzip"', true],
  ['*', true],
  [' * ', true],
  ['"b"', false],
  ['"b-gzip"', false],
  ['"a-gzip-gzip"', false],
  ['"a-x"', false],
  ['"-gzip"', false],
  ['a', false],
  ['', false],
  ['"a', false],
  ['"A"', false],
  ['"*"', false],
])('namesTag for If-None-Match: %s and the tag "a" returns %s', (ifNoneMatch, named) => {
  expect(namesTag(ifNoneMatch, '"a"')).toBe(named);
});
