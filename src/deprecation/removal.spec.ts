import { removalError } from './removal.js';

const REMOVAL = new Date('2030-12-05T00:00:00Z');
const DEPRECATION = {
  since: new Date('2025-12-05T00:00:00Z'),
  removal: REMOVAL,
  replacement: '/v1/pets?status=available',
  docs: '/docs',
};

test('until the last millisecond before its removal an operation answers', () => {
  expect(removalError(DEPRECATION, 'GET', REMOVAL.getTime() - 1)).toBeNull();
});

test.each([0, 1, 1e12])('from the very instant of its removal it is gone: %d ms after', (afterMs) => {
  expect(removalError(DEPRECATION, 'GET', REMOVAL.getTime() + afterMs)?.body).toEqual({
    code: 'endpoint_removed',
    message: 'This operation was removed on 2030-12-05. Use GET /v1/pets?status=available instead.',
    status: 410,
  });
});

test.each([
  ['GET', 'GET'],
  ['HEAD', 'GET'],
  ['POST', 'POST'],
])('who asks by %s is told to use %s', (method, told) => {
  expect(removalError(DEPRECATION, method, REMOVAL.getTime())?.message).toBe(
    `This operation was removed on 2030-12-05. Use ${told} /v1/pets?status=available instead.`,
  );
});
