import { namedStatement } from './statement.js';

test('namedStatement names a statement by its text, because releases may share sessions of a pooler', () => {
  const [old, changed] = [namedStatement('find-pets', 'SELECT 1'), namedStatement('find-pets', 'SELECT 2')];
  expect(old.preparedName).toMatch(/^find-pets-[0-9a-f]{12}$/);
  expect(changed.preparedName).not.toBe(old.preparedName);
  expect(namedStatement('find-pets', 'SELECT 1')).toEqual(old);
});
