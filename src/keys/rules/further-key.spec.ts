import {
  furtherKeyBounds,
  issuableScopes,
  type KeyBounds,
  narrow,
  type Restrictions,
} from './further-key.js';

const NEXT_YEAR = new Date('2028-01-01T00:00:00Z');
const LATER = new Date('2028-01-01T00:00:00.001Z');

const issuer = (bounds: Partial<KeyBounds> = {}): KeyBounds => ({
  scopes: ['pets:read', 'orders:read', 'keys:write'],
  allowedNetworks: null,
  expiresAt: null,
  ...bounds,
});

describe('issuableScopes', () => {
  it('leaves out keys:write and those of administration', () => {
    expect(issuableScopes(['keys:write', 'orders:read', 'admin:read', 'admin:write'])).toEqual([
      'orders:read',
    ]);
  });

  it('returns none for a key without a set, which lacks keys:write, and for an empty set', () => {
    expect(issuableScopes(null)).toEqual([]);
    expect(issuableScopes([])).toEqual([]);
  });
});

describe('furtherKeyBounds', () => {
  it('takes what is not given from the issuer, except keys:write', () => {
    const own = issuer({ allowedNetworks: ['203.0.113.0/24'], expiresAt: NEXT_YEAR });
    expect(furtherKeyBounds(own, {})).toEqual({
      bounds: {
        scopes: ['pets:read', 'orders:read'],
        allowedNetworks: ['203.0.113.0/24'],
        expiresAt: NEXT_YEAR,
      },
      faults: [],
    });
  });

  it('accepts narrower bounds', () => {
    const own = issuer({ allowedNetworks: ['2001:db8::/32', '203.0.113.0/24'], expiresAt: LATER });
    const given: KeyBounds = {
      scopes: ['pets:read'],
      allowedNetworks: ['203.0.113.128/25', '2001:db8:1::/48'],
      expiresAt: NEXT_YEAR,
    };
    expect(furtherKeyBounds(own, given)).toEqual({ bounds: given, faults: [] });
  });

  it('accepts the same bounds', () => {
    const own = issuer({ allowedNetworks: ['203.0.113.0/24'], expiresAt: NEXT_YEAR });
    const given: KeyBounds = { ...own, scopes: ['orders:read', 'pets:read'] };
    expect(furtherKeyBounds(own, given).faults).toEqual([]);
  });

  it('accepts empty lists, which allow nothing', () => {
    const given = { scopes: [], allowedNetworks: [] };
    const own = issuer({ allowedNetworks: ['203.0.113.0/24'] });
    expect(furtherKeyBounds(own, given)).toMatchObject({ bounds: given, faults: [] });
  });

  it('gives nothing of an empty list', () => {
    const own = issuer({ scopes: [], allowedNetworks: [] });
    expect(furtherKeyBounds(own, {}).bounds).toMatchObject({ scopes: [], allowedNetworks: [] });
    const given = { scopes: ['pets:read' as const], allowedNetworks: ['203.0.113.7/32'] };
    expect(furtherKeyBounds(own, given).faults).toHaveLength(2);
  });

  it('accepts any networks and expiry from an issuer without such bounds', () => {
    const given = { allowedNetworks: ['203.0.113.0/24'], expiresAt: NEXT_YEAR };
    expect(furtherKeyBounds(issuer(), given)).toMatchObject({ bounds: given, faults: [] });
  });

  it.each<[string, KeyBounds['scopes']]>([
    ['a scope that the issuer lacks', ['pets:read', 'pets:write']],
    ['keys:write', ['keys:write']],
    ['no set', null],
  ])('rejects scopes: %s', (_what, scopes) => {
    expect(furtherKeyBounds(issuer(), { scopes }).faults).toEqual([
      'scopes must be among those that your key may give: pets:read, orders:read',
    ]);
  });

  it.each<[string, string[] | null]>([
    ['anywhere', null],
    ['a larger network', ['203.0.112.0/23']],
    ['another network', ['198.51.100.0/24']],
    ['one of two', ['203.0.113.7/32', '198.51.100.7/32']],
    ['one of the other version of IP', ['::/0']],
  ])('rejects networks: %s', (_what, allowedNetworks) => {
    expect(
      furtherKeyBounds(issuer({ allowedNetworks: ['203.0.113.0/24'] }), { allowedNetworks }).faults,
    ).toEqual(['allowedNetworks must be within those of your key: 203.0.113.0/24']);
  });

  it.each([null, LATER])('rejects a later expiry: %s', (expiresAt) => {
    expect(furtherKeyBounds(issuer({ expiresAt: NEXT_YEAR }), { expiresAt }).faults).toEqual([
      'expiresAt must not be after that of your key: 2028-01-01T00:00:00.000Z',
    ]);
  });

  it('names every fault', () => {
    const own = issuer({ allowedNetworks: ['203.0.113.0/24'], expiresAt: NEXT_YEAR });
    expect(
      furtherKeyBounds(own, { scopes: null, allowedNetworks: null, expiresAt: LATER }).faults,
    ).toHaveLength(3);
  });
});

describe('narrow', () => {
  const client = { role: 'client', scopes: null, allowedNetworks: null };

  it('leaves a key as it is beside one without restrictions', () => {
    const key = { role: 'client', scopes: ['pets:read' as const], allowedNetworks: ['10.0.0.0/8', 'v9:x'] };
    const { scopes, allowedNetworks } = key;
    expect(narrow(key, { scopes: null, allowedNetworks: null })).toEqual({ scopes, allowedNetworks });
    expect(narrow(key, key)).toEqual({ scopes, allowedNetworks });
  });

  it('gives a key without restrictions those of the other that its role may have', () => {
    const outer: Restrictions = {
      scopes: ['pets:read', 'keys:write', 'admin:read'],
      allowedNetworks: ['10.0.0.0/8'],
    };
    expect(narrow(client, outer)).toEqual({ scopes: ['pets:read'], allowedNetworks: ['10.0.0.0/8'] });
    expect(narrow({ ...client, role: 'admin' }, outer).scopes).toEqual(['pets:read', 'admin:read']);
  });

  it.each([
    [
      ['10.1.0.0/16', '192.0.2.0/24'],
      ['10.0.0.0/8', '192.0.2.7/32'],
      ['10.1.0.0/16', '192.0.2.7/32'],
    ],
    [['2001:db8::/32'], ['2001:db8:1::/48', '10.0.0.0/8'], ['2001:db8:1::/48']],
    [['10.0.0.0/8'], ['192.0.2.0/24'], []],
    [[], ['10.0.0.0/8'], []],
    [['10.0.0.0/8'], [], []],
    [['v9:x', '10.0.0.0/8'], ['10.0.0.0/8', 'v9:y'], ['10.0.0.0/8']],
  ])('gives %p and %p the addresses of both, %p', (allowedNetworks, others, both) => {
    expect(narrow({ ...client, allowedNetworks }, { scopes: null, allowedNetworks: others })).toEqual({
      scopes: null,
      allowedNetworks: both,
    });
  });
});
