import { lifecycleError } from './lifecycle.js';

const REMOVAL_MS = Date.parse('2030-12-05T00:00:00Z');
const DEPRECATION = {
  since: new Date('2025-12-05T00:00:00Z'),
  removal: new Date(REMOVAL_MS),
  replacement: '/v1/pets?status=available',
  docs: '/docs#/pets/getPet',
};

const errorAt = (nowMs: number, method = 'GET') =>
  lifecycleError({ deprecation: DEPRECATION }, method, nowMs, false);

test('until the last millisecond before its removal an operation answers', () => {
  expect(errorAt(REMOVAL_MS - 1)).toBeNull();
});

test.each([0, 1, 1e12])('from the very instant of its removal it is gone: %d ms after', (afterMs) => {
  expect(errorAt(REMOVAL_MS + afterMs)?.body).toEqual({
    code: 'endpoint_removed',
    message: 'This operation was removed on 2030-12-05. Use GET /v1/pets?status=available instead.',
    status: 410,
  });
});

test.each([
  ['GET', 'GET'],
  ['HEAD', 'GET'],
  ['POST', 'POST'],
])('a request by %s names %s in its error', (method, named) => {
  expect(errorAt(REMOVAL_MS, method)?.message).toBe(
    `This operation was removed on 2030-12-05. Use ${named} /v1/pets?status=available instead.`,
  );
});

test.each(['stable', 'beta'] as const)(
  'what is %s is there, whether experiments are offered or not',
  (stability) => {
    expect(lifecycleError({ stability }, 'GET', REMOVAL_MS, false)).toBeNull();
    expect(lifecycleError({ stability }, 'GET', REMOVAL_MS, true)).toBeNull();
  },
);

test('what is experimental is there where experiments are offered, and not found elsewhere', () => {
  expect(lifecycleError({ stability: 'experimental' }, 'GET', REMOVAL_MS, true)).toBeNull();
  expect(lifecycleError({ stability: 'experimental' }, 'GET', REMOVAL_MS, false)?.body).toEqual({
    code: 'not_found',
    message: 'This operation is experimental, and not offered in this environment.',
    status: 404,
  });
});

test('what is not offered is not found, rather than removed', () => {
  const lifecycle = { stability: 'experimental', deprecation: DEPRECATION } as const;
  expect(lifecycleError(lifecycle, 'GET', REMOVAL_MS, true)?.code).toBe('endpoint_removed');
  expect(lifecycleError(lifecycle, 'GET', REMOVAL_MS, false)?.code).toBe('not_found');
});
