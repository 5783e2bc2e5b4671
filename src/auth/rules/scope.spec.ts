import { hasScope, SCOPES, scopesForRole } from './scope.js';

describe('hasScope', () => {
  it('is true for a scope of the set alone', () => {
    expect(hasScope(['pets:read', 'keys:write'], 'keys:write')).toBe(true);
    expect(hasScope(['pets:read'], 'pets:write')).toBe(false);
  });

  it('is true without a list for what such a key could do in 1.0.0, and for nothing else', () => {
    expect(SCOPES.filter((scope) => hasScope(null, scope))).toEqual([
      'pets:read',
      'pets:write',
      'orders:read',
      'orders:write',
      'admin:read',
      'admin:write',
    ]);
  });
});

describe('scopesForRole', () => {
  it('returns every scope for administrators, and all but those of administration for clients', () => {
    expect(scopesForRole('admin')).toEqual(SCOPES);
    const ofClients = scopesForRole('client');
    expect(SCOPES.filter((scope) => !ofClients.includes(scope))).toEqual(['admin:read', 'admin:write']);
  });
});
