import { toNetwork } from './network.js';

describe('toNetwork', () => {
  it.each([
    ['203.0.113.9', '203.0.113.9'],
    ['127.0.0.1', '127.0.0.1'],
    ['::ffff:203.0.113.9', '203.0.113.9'],
    ['::ffff:cb00:7109', '203.0.113.9'],
    ['::1', '::/64'],
    ['2001:db8:1:2::1', '2001:db8:1:2::/64'],
    ['2001:db8:1:3::1', '2001:db8:1:3::/64'],
    ['2001:0DB8:0001:0002:FFFF:ffff:ffff:ffff', '2001:db8:1:2::/64'],
    ['2001:db8::', '2001:db8::/64'],
    ['fe80::1%eth0', 'fe80::/64'],
    ['203.0.113.9:4711', '203.0.113.9'],
    ['[2001:db8::1]:4711', '2001:db8::/64'],
    ['[2001:db8::1]', '2001:db8::/64'],
  ])('returns for %s the network %s', (address, network) => {
    expect(toNetwork(address)).toBe(network);
  });

  it.each([
    undefined,
    'unknown',
    '_hidden',
    '',
    '999.1.1.1',
    '[]:4711',
    'x203.0.113.9:4711',
    '203.0.113.9:4711x',
    '[2001:db8::1]:',
  ])('returns "unknown" for %j, which is no address', (address) => {
    expect(toNetwork(address)).toBe('unknown');
  });
});
