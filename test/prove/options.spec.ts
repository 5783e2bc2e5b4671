import { readOptions } from '../../prove/options.js';

describe('the options of npm run prove', () => {
  it('run ten minutes on three replicas that count in PostgreSQL by default, each time with another seed', () => {
    const { seed, ...rest } = readOptions([]);
    expect(rest).toEqual({ minutes: 10, replicas: 3, store: 'postgres' });
    expect(readOptions([]).seed).not.toBe(seed);
  });

  it('take a number of minutes, of replicas, a store and a seed', () => {
    const args = ['--minutes', '2.5', '--replicas=2', '--store', 'cluster', '--seed', '7'];
    expect(readOptions(args)).toEqual({ minutes: 2.5, replicas: 2, store: 'cluster', seed: 7 });
  });

  it.each([
    ['--minutes=0', '--minutes must be a number from 0.5 to 1440, not "0"'],
    ['--minutes=soon', '--minutes must be a number from 0.5 to 1440, not "soon"'],
    ['--replicas=0', '--replicas must be a whole number from 1 to 8, not "0"'],
    ['--replicas=1.5', '--replicas must be a whole number from 1 to 8, not "1.5"'],
    ['--store=mysql', '--store must be one of postgres, redis, cluster, sentinel, not "mysql"'],
    ['--seed=-1', '--seed must be a whole number from 0 to 2147483647, not "-1"'],
    ['--fast', 'The options are --minutes, --replicas, --store and --seed'],
  ])('reject %s with what is accepted', (argument, message) => {
    expect(() => readOptions([argument])).toThrow(message);
  });
});
