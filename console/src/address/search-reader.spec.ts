import { animalsSearch } from '../animals/animals-search';
import { auditSearch } from '../audit/audit-search';
import { keysSearch } from '../keys/keys-search';
import { ordersSearch } from '../orders/orders-search';
import { plansSearch } from '../plans/plans-search';
import { trafficSearch } from '../traffic/traffic-range';

const ID = '019d3c5e-7a10-7c1e-9a52-0d3c0f8f6a11';

describe('the search parameters of an address', () => {
  it.each([
    [animalsSearch, { status: 'sold', animal: '9223372036854775807' }],
    [auditSearch, { actor: 'ann', action: 'key.issued', keyId: ID, quotaId: ID, since: '2026-01-01T00:00' }],
    [keysSearch, { search: 'shop', plan: 'pro', state: 'active', banned: 'yes', sort: 'name' }],
    [ordersSearch, { status: 'placed' }],
    [plansSearch, { plan: 'pro' }],
    [trafficSearch, { range: 'hour' }],
    [trafficSearch, { from: '1798761600000', until: '1798765200000' }],
  ])('are kept if they are valid', (read, search) => {
    expect(read({ ...search, other: 'x' })).toEqual(search);
  });

  it.each([
    [animalsSearch, { status: 'constructor', animal: '1.5' }],
    [
      auditSearch,
      { actor: '', action: 'constructor', keyId: 'x', quotaId: '1', since: '2026-13-01T00:00', until: 'x' },
    ],
    [keysSearch, { search: 'x'.repeat(65), plan: '../keys', state: 'x', banned: 'no', sort: 'constructor' }],
    [keysSearch, { cursor: 'x' }],
    [keysSearch, { cursor: 'x', page: '-1' }],
    [ordersSearch, { status: '__proto__' }],
    [plansSearch, { plan: 'Not A Plan' }],
    [trafficSearch, { range: 'x', until: 'x' }],
    [trafficSearch, { from: '1', until: '999999999999999' }],
  ])('are dropped if they are not valid', (read, search) => {
    expect(read(search)).toEqual({});
  });
});
