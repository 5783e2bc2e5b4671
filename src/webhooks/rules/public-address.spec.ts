import { findPrivateHost, isPublicAddress } from './public-address.js';

describe('isPublicAddress', () => {
  it.each([
    '1.1.1.1',
    '93.184.216.34',
    '2606:4700:4700::1111',
    '2a00:1450:4001::1',
    '::ffff:1.1.1.1',
    '64:ff9b::1.1.1.1',
    '64:ff9b::808:808',
  ])('is true for an address of the Internet: %s', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  it.each([
    '0.0.0.0',
    '10.0.0.1',
    '100.64.0.1',
    '127.0.0.1',
    '127.255.255.254',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::7f00:1',
    '::8.8.8.8',
    '::ffff:127.0.0.1',
    '::ffff:10.0.0.1',
    '::ffff:0:127.0.0.1',
    '64:ff9b::7f00:1',
    '64:ff9b::a00:1',
    '64:ff9b::a9fe:a9fe',
    '64:ff9b:0:1::808:808',
    '64:ff9b:1::808:808',
    '2002:7f00:1::',
    '2001:0:7f00:1::',
    'fc00::1',
    'fd12:3456::1',
    'fe80::1',
    'fec0::1',
    'ff02::1',
    '4000::1',
  ])('is false for a loopback, private, link-local or reserved address: %s', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });
});

describe('findPrivateHost', () => {
  const findIn = (url: string) => findPrivateHost(new URL(url).hostname);

  it.each([
    ['http://127.0.0.1:4000/hook', '127.0.0.1'],
    ['http://2130706433/', '127.0.0.1'],
    ['http://0x7f.1/', '127.0.0.1'],
    ['http://10.0.0.1./', '10.0.0.1'],
    ['http://[::1]/', '::1'],
    ['http://[::ffff:127.0.0.1]/', '::ffff:7f00:1'],
    ['http://LOCALHOST/', 'localhost'],
    ['http://localhost./', 'localhost.'],
    ['http://ops.localhost/', 'ops.localhost'],
  ])('returns the host, however the URL names it: %s', (url, host) => {
    expect(findIn(url)).toBe(host);
  });

  it.each([
    'https://ops.example/',
    'https://localhost.example/',
    'https://1.1.1.1/',
    'https://[2606:4700::1]/',
  ])('returns null for a name, and for an address of the Internet: %s', (url) => {
    expect(findIn(url)).toBeNull();
  });
});
