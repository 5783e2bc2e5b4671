import { parseRedisAddresses } from './redis-address.js';

const plain = {
  port: 6379,
  tls: false,
  username: undefined,
  password: undefined,
  db: 0,
  masterName: undefined,
};
const sentinel = { ...plain, port: 26379, masterName: 'my-master' };

describe('parseRedisAddresses', () => {
  it.each([
    ['redis://cache.example', [{ ...plain, host: 'cache.example' }]],
    ['redis://cache.example:6380/', [{ ...plain, host: 'cache.example', port: 6380 }]],
    ['rediss://cache.example', [{ ...plain, host: 'cache.example', tls: true }]],
    ['redis://[2001:db8::1]:7000', [{ ...plain, host: '2001:db8::1', port: 7000 }]],
    ['redis://cache.example/3', [{ ...plain, host: 'cache.example', db: 3 }]],
    ['redis://:p%40ss@cache.example', [{ ...plain, host: 'cache.example', password: 'p@ss' }]],
    [
      'redis://store:secret@cache.example',
      [{ ...plain, host: 'cache.example', username: 'store', password: 'secret' }],
    ],
    [
      'redis://a.example:7000, redis://b.example:7001',
      [
        { ...plain, host: 'a.example', port: 7000 },
        { ...plain, host: 'b.example', port: 7001 },
      ],
    ],
    [
      'redis+sentinel://a.example:5000, [2001:db8::1],b.example/my-master',
      [
        { ...sentinel, host: 'a.example', port: 5000 },
        { ...sentinel, host: '2001:db8::1' },
        { ...sentinel, host: 'b.example' },
      ],
    ],
    [
      'rediss+sentinel://store:p%40ss@a.example/my-master',
      [{ ...sentinel, host: 'a.example', tls: true, username: 'store', password: 'p@ss' }],
    ],
  ])('returns the addresses of "%s"', (text, addresses) => {
    expect(parseRedisAddresses(text)).toEqual(addresses);
  });

  it.each([
    '',
    'cache.example:6379',
    'postgres://cache.example',
    'redis://',
    'redis://cache.example/zero',
    'redis://cache.example/0/1',
    'redis://cache.example?db=1',
    'redis://:%zz@cache.example',
    'redis://a.example,',
    // Nodes of one Cluster share their settings, and a Cluster has one database.
    'redis://a.example,rediss://b.example',
    'redis://:x@a.example,redis://:y@b.example',
    'redis://a.example/1,redis://b.example/1',
    'redis+sentinel://a.example',
    'redis+sentinel://a.example/',
    'redis+sentinel://a.example,/my-master',
    'redis+sentinel://a.example:x/my-master',
    'redis+sentinel://a.example/my%20master',
    'redis+sentinel://a.example/my-master/1',
    'redis+sentinel://a.example/my-master?db=1',
    'redis+sentinel://:x@a.example,:y@b.example/my-master',
    'redis+sentinel://:%zz@a.example/my-master',
  ])('returns null for "%s"', (text) => {
    expect(parseRedisAddresses(text)).toBeNull();
  });
});
