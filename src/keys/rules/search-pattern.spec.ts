import { searchPattern } from './search-pattern.js';

describe('searchPattern', () => {
  it.each([
    ['Käthe', '[kK][äÄ][tT][hH][eE]'],
    ['KA\u0308', '[kK][äÄ]'],
    ['Ｋ２ ﬁ', '[kK]2 [fF][iIİı]'],
    ['ΟΔΟΣ', '[οΟ][δΔ][οΟ][σΣς]'],
    ['ς', '[σΣς]'],
    ['İı', '[iIİı][iIİı]'],
    ['ẞß', '[sS][sS][sS][sS]'],
    ['ᾼ', '[ᾳᾼ]'],
    ['𐐀', '[𐐨𐐀]'],
    ['ǰ', 'ǰ'],
    ['犬 🐕 7', '犬 🐕 7'],
  ])('lists the cases of each letter of %j', (text, pattern) => {
    expect(searchPattern(text)).toBe(pattern);
  });

  it('escapes every sign of ASCII', () => {
    const signs = '!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~';
    expect(searchPattern(signs)).toBe(Array.from(signs, (sign) => `\\${sign}`).join(''));
  });
});
