import { readOptions } from '../../chaos/options.js';

describe('the options of npm run chaos', () => {
  it('run ten minutes on three replicas that count in PostgreSQL by default, each with another seed', () => {
    const { seed, ...rest } = readOptions([]);
    expect(rest).toEqual({ minutes: 10, replicas: 3, store: 'postgres' });
    expect(readOptions([]).seed).not.toBe(seed);
  });

  it('take a number of minutes, of replicas, a store and a seed', () => {
    const args = ['--minutes', '2.5', '--replicas=2', '--store', 'cluster', '--seed', '7'];
    expect(readOptions(args)).toEqual({ minutes: 2.5, replicas: 2, store: 'cluster', seed: 7 });
  });

  it('take the release whose replicas are upgraded', () => {
    expect(readOptions(['--upgrade-from', '1.0.0'])).toMatchObject({ upgradeFrom: '1.0.0' });
  });

  it.each([
    ['--minutes=0', /'--minutes <number>' argument '0' is invalid. It must be a number from 0.5 to 1440/],
    ['--minutes=soon', /'soon' is invalid. It must be a number from 0.5 to 1440/],
    ['--replicas=0', /'--replicas <count>' argument '0' is invalid. It must be a whole number from 1 to 8/],
    ['--replicas=1.5', /'1.5' is invalid. It must be a whole number from 1 to 8/],
    [
      '--store=mysql',
      /'mysql' is invalid. Allowed choices are postgres, patroni, redis, cluster, sentinel, valkey/,
    ],
    ['--seed=-1', /'-1' is invalid. It must be a whole number from 0 to 2147483647/],
    [
      '--fast',
      /unknown option '--fast'\nThe options are --minutes, --replicas, --store, --seed and --upgrade-from/,
    ],
    ['redis', /too many arguments/],
  ])('reject %s with what is accepted', (argument, message) => {
    expect(() => readOptions([argument])).toThrow(message);
  });
});
