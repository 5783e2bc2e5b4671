import { notConnected, redisFailure } from './redis-failure.js';

const reply = (message: string) => Object.assign(new Error(message), { name: 'ReplyError' });

describe('redisFailure', () => {
  const failures: [error: Error, kind: string][] = [
    [new Error("Stream isn't writeable and enableOfflineQueue options is false"), 'noConnection'],
    [new Error("Cluster isn't ready and enableOfflineQueue options is false"), 'noConnection'],
    [reply("OOM command not allowed when used memory > 'maxmemory'."), 'failed'],
    [reply('CLUSTERDOWN The cluster is down'), 'failed'],
    [new Error('Too many Cluster redirections. Last error: MOVED 1 a:1'), 'failed'],
    [reply('WRONGTYPE Operation against a key holding the wrong kind of value'), 'wrongType'],
    [reply('ERR Error running script (call to f_1): @user_script:33: WRONGTYPE …'), 'wrongType'],
    [new Error('Connection is closed.'), 'outcomeUnknown'],
    [new Error('There was no response within 500 ms'), 'outcomeUnknown'],
  ];
  it.each(failures.map(([error, kind]) => [error.message, kind, error] as const))(
    'returns for "%s" the kind %s',
    (_message, kind, error) => expect(redisFailure(error).kind).toBe(kind),
  );

  it('returns a message even for an error that has only a code', () => {
    expect(redisFailure(reply('LOADING')).message).toBe('Redis cannot be used: LOADING');
    const connectionError = Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' });
    expect(notConnected(connectionError)).toMatchObject({
      kind: 'noConnection',
      message: 'Redis cannot be used: ECONNREFUSED',
    });
  });
});
