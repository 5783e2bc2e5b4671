import { wasErased } from './audit-texts';

describe('wasErased', () => {
  const same = { before: { url: 'https://shop.example' }, after: { url: 'https://shop.example' } };

  it('tells that nothing is left of a change of a key or a quota', () => {
    expect(wasErased({ action: 'key.updated', before: {}, after: {} })).toBe(true);
    expect(wasErased({ action: 'quota.updated', before: {}, after: {} })).toBe(true);
  });

  it('does not call a webhook erased of which the part of the URL changed that is not shown', () => {
    expect(wasErased({ action: 'webhook.updated', ...same })).toBe(false);
  });

  it('does not call a change erased that is still there', () => {
    const change = { before: { note: 'Old' }, after: { note: null } };
    expect(wasErased({ action: 'key.updated', ...change })).toBe(false);
  });
});
