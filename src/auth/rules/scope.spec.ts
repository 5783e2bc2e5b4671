import { SCOPES, scopesForRole } from './scope.js';

describe('scopesForRole', () => {
  it('returns every scope for administrators, and those outside of administration for clients', () => {
    expect(scopesForRole('admin')).toEqual(SCOPES);
    expect(scopesForRole('client')).toEqual(['pets:read', 'pets:write', 'orders:read', 'orders:write']);
  });
});
