import { addressText, isInNetworks, networkText, parseNetwork, toNetwork } from './network.js';

describe('addressText', () => {
  it('returns an address', () => {
    expect(addressText('2001:db8::1')).toBe('2001:db8::1');
    expect(addressText('::ffff:192.0.2.1')).toBe('192.0.2.1');
    expect(addressText('[::FFFF:c000:201]')).toBe('192.0.2.1');
  });

  it.each(['nonsense here', 'from 203.0.113.9', '203.0.113.9 here'])('returns "unknown" for "%s"', (text) => {
    expect(addressText(text)).toBe('unknown');
  });
});

describe('toNetwork', () => {
  it.each([
    ['203.0.113.9', '203.0.113.9'],
    ['127.0.0.1', '127.0.0.1'],
    ['::ffff:203.0.113.9', '203.0.113.9'],
    ['::ffff:cb00:7109', '203.0.113.9'],
    ['::1', '::/64'],
    ['::203.0.113.9', '::/64'],
    ['[::203.0.113.9]:4711', '::/64'],
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
    '010.0.0.1',
    '0x7f.0.0.1',
    '3405803777',
    '[2001:db8::1]:',
  ])('returns "unknown" for %j, which is no address', (address) => {
    expect(toNetwork(address)).toBe('unknown');
  });
});

describe('parseNetwork', () => {
  it.each([
    ['203.0.113.0/24', '203.0.113.0/24'],
    ['203.0.113.77/24', '203.0.113.0/24'],
    ['203.0.113.7/32', '203.0.113.7/32'],
    ['0.0.0.0/0', '0.0.0.0/0'],
    ['2001:DB8:0:0::1/32', '2001:db8::/32'],
    ['::1/128', '::1/128'],
    ['::203.0.113.9', '::cb00:7109/128'],
    ['::203.0.113.9/120', '::cb00:7100/120'],
    ['0:0:0:0:0:0:203.0.113.9', '::cb00:7109/128'],
    ['::ffff:203.0.113.9/120', '203.0.113.0/24'],
    ['::ffff:0:0/96', '0.0.0.0/0'],
    ['::ffff:0:0/95', '::fffe:0:0/95'],
    ['fe80::1%eth0/64', 'fe80::/64'],
    ['203.0.113.7', '203.0.113.7/32'],
    ['2001:DB8::7', '2001:db8::7/128'],
    ['::ffff:203.0.113.9', '203.0.113.9/32'],
  ])('reads %s as %s', (cidr, network) => {
    expect(networkText(parseNetwork(cidr))).toBe(network);
  });

  it.each(['', 'nonsense', '203.0.113.0/33', '2001:db8::/129', 'nonsense/8'])('throws for %j', (text) => {
    expect(() => parseNetwork(text)).toThrow(/CIDR|formatted/);
  });
});

describe('isInNetworks', () => {
  const networks = ['203.0.113.0/24', '198.51.100.7/32', '2001:db8::/32'].map(parseNetwork);

  it.each([
    ['203.0.113.0', true],
    ['203.0.113.255', true],
    ['203.0.114.0', false],
    ['198.51.100.7', true],
    ['198.51.100.8', false],
    ['::ffff:203.0.113.9', true],
    ['::203.0.113.9', false],
    ['203.0.113.9:4711', true],
    ['[2001:db8:ffff::1]:4711', true],
    ['2001:db9::1', false],
    ['unknown', false],
    ['0313.0.113.9', false],
    ['3405803777', false],
    ['', false],
    // Node may have no address of a connection that was closed.
    [undefined, false],
  ])('returns for %j %j', (address, expected) => {
    expect(isInNetworks(address, networks)).toBe(expected);
  });

  it('returns false without networks, and of IPv4 if all of IPv6 is allowed', () => {
    expect(isInNetworks('203.0.113.9', [])).toBe(false);
    expect(isInNetworks('::ffff:203.0.113.9', [parseNetwork('::/0')])).toBe(false);
  });
});
