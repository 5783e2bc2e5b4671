import { toTree } from './key-tree';

/** Returns a key `name` of quota `q`, which another issued, or which replaces another. */
const key = (id: string, from: { issuerId?: string; predecessorId?: string; quotaId?: string } = {}) => ({
  id,
  quotaId: 'q',
  issuerId: null,
  predecessorId: null,
  ...from,
});

const shown = (keys: ReturnType<typeof key>[]) => toTree(keys).map(({ id, depth }) => '.'.repeat(depth) + id);

describe('toTree', () => {
  it('hangs what a key issued under it, whatever the order of the list', () => {
    const shop = key('shop');
    const branch = key('branch', { issuerId: 'shop' });
    const till = key('till', { issuerId: 'branch' });
    const app = key('app', { issuerId: 'shop' });
    expect(shown([till, app, branch, shop])).toEqual(['shop', '.app', '.branch', '..till']);
    expect(shown([shop, branch, app, till])).toEqual(['shop', '.branch', '..till', '.app']);
  });

  it('has a key and what it replaces beside each other, above what either issued', () => {
    const old = key('old');
    const next = key('next', { predecessorId: 'old' });
    const issued = [key('by next', { issuerId: 'next' }), key('by old', { issuerId: 'old' })];
    expect(shown([...issued, next, old])).toEqual(['next', 'old', '.by next', '.by old']);
    expect(shown([old, ...issued, next])).toEqual(['old', 'next', '.by next', '.by old']);
  });

  it('has the successors of an issued key at its level', () => {
    const old = key('old', { issuerId: 'shop' });
    const next = key('next', { issuerId: 'shop', predecessorId: 'old' });
    expect(shown([next, key('app', { issuerId: 'shop' }), old, key('shop')])).toEqual([
      'shop',
      '.next',
      '.old',
      '.app',
    ]);
  });

  it('has what a key of another page issued below the successor of that key, or else at the margin', () => {
    const next = key('next', { predecessorId: 'gone' });
    expect(shown([key('app', { issuerId: 'gone' }), next])).toEqual(['next', '.app']);
    expect(shown([key('app', { issuerId: 'gone' }), key('other')])).toEqual(['app', 'other']);
  });

  it('has the keys of a quota together, at the place of the first', () => {
    const other = (id: string) => key(id, { quotaId: 'another' });
    const app = key('app', { issuerId: 'shop' });
    expect(shown([app, other('one'), key('shop'), other('two')])).toEqual(['shop', '.app', 'one', 'two']);
  });
});
