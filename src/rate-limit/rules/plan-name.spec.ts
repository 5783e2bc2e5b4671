import { isPlanName, PLAN_NAME_MAX_LENGTH } from './plan-name.js';

describe('isPlanName', () => {
  it.each(['a', 'pro', 'pro-2', 'a'.repeat(PLAN_NAME_MAX_LENGTH)])('returns true for %j', (name) => {
    expect(isPlanName(name)).toBe(true);
  });

  it.each([
    '',
    'a'.repeat(PLAN_NAME_MAX_LENGTH + 1),
    'Pro',
    'pRO',
    '2pro',
    '-pro',
    'pro_2',
    'pro\0',
    'pro\n',
    ' pro',
  ])('returns false for %j', (name) => {
    expect(isPlanName(name)).toBe(false);
  });
});
