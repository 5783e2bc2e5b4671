import { entityTag, namesTag } from './entity-tag.js';

test('a tag is quoted, the same for the same body and another for another', () => {
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
  ['*', true],
  [' * ', true],
  ['"b"', false],
  ['a', false],
  ['', false],
  ['"a', false],
  ['"A"', false],
  ['"*"', false],
])('If-None-Match: %s names "a": %s', (ifNoneMatch, named) => {
  expect(namesTag(ifNoneMatch, '"a"')).toBe(named);
});
