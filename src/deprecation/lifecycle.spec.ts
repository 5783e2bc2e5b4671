import { lifecycleError } from './lifecycle.js';

const NOW = Date.parse('2030-12-05T00:00:00Z');
const DEPRECATION = {
  since: new Date('2025-12-05T00:00:00Z'),
  removal: new Date(NOW),
  replacement: '/v1/pets?status=available',
  docs: '/docs#/pets/getPet',
};

test.each(['stable', 'beta'] as const)(
  'what is %s is there, whether experiments are offered or not',
  (stability) => {
    expect(lifecycleError({ stability }, 'GET', NOW, false)).toBeNull();
    expect(lifecycleError({ stability }, 'GET', NOW, true)).toBeNull();
  },
);

test('what is experimental is there where experiments are offered, and not found elsewhere', () => {
  expect(lifecycleError({ stability: 'experimental' }, 'GET', NOW, true)).toBeNull();
  expect(lifecycleError({ stability: 'experimental' }, 'GET', NOW, false)?.body).toEqual({
    code: 'not_found',
    message: 'This operation is experimental, and not offered in this environment.',
    status: 404,
  });
});

test('what is not offered is not found, rather than removed', () => {
  const lifecycle = { stability: 'experimental', deprecation: DEPRECATION } as const;
  expect(lifecycleError(lifecycle, 'GET', NOW, true)?.code).toBe('endpoint_removed');
  expect(lifecycleError(lifecycle, 'GET', NOW, false)?.code).toBe('not_found');
});
