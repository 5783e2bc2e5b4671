import { isAuthority } from './ambiguity.guard.js';

describe('isAuthority', () => {
  it.each([
    'x',
    'x:',
    'x:80',
    '127.0.0.1:65535',
    '[::1]',
    '[::ffff:127.0.0.1]:3000',
    'api.animal-store.example.',
    'a_b-c~d',
    'caf%C3%A9',
  ])('returns true for %s', (text) => {
    expect(isAuthority(text)).toBe(true);
  });

  it.each([
    '',
    ':80',
    'x:y',
    'x:80:80',
    'x:-1',
    '127.0.0.1:65536',
    '127.0.0.1:99999',
    'x:99999999999999999999',
    '[::1',
    '::1',
    '[]',
    '[1]',
    '[::1::]',
    '[x]',
    '[::1]x',
    '[fe80::1%25eth0]',
    '%00',
    '%2F',
    '%zz',
    '%',
    'a b',
    'x,y',
    'user@x',
    'x/y',
    'x\\y',
    'x\n',
    'é',
  ])('returns false for %j', (text) => {
    expect(isAuthority(text)).toBe(false);
  });
});
