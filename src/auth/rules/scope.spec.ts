import { SCOPES, scopesForRole } from './scope.js';

describe('scopesForRole', () => {
  it('returns every scope for administrators, and all but those of administration for clients', () => {
    expect(scopesForRole('admin')).toEqual(SCOPES);
    const ofClients = scopesForRole('client');
    expect(SCOPES.filter((scope) => !ofClients.includes(scope))).toEqual(['admin:read', 'admin:write']);
  });
});
