import { explain, NotConnectedError } from './redis-failure.js';

const reply = (message: string) => Object.assign(new Error(message), { name: 'ReplyError' });

describe('why Redis did not answer', () => {
  it.each([
    [new NotConnectedError(), 'noConnection', 'failed'],
    [new Error("Stream isn't writeable and enableOfflineQueue options is false"), 'noConnection', 'failed'],
    [reply("OOM command not allowed when used memory > 'maxmemory'."), 'failed', 'failed'],
    [reply('CLUSTERDOWN The cluster is down'), 'failed', 'failed'],
    [new Error('Too many Cluster redirections. Last error: MOVED 1 a:1'), 'failed', 'failed'],
    [reply('WRONGTYPE Operation against a key holding the wrong kind of value'), 'wrongType', 'wrongType'],
    [reply('ERR Error running script (call to f_1): @user_script:33: WRONGTYPE …'), 'wrongType', 'wrongType'],
    [new Error('Connection is closed.'), 'outcomeUnknown', 'outcomeUnknown'],
    [new Error('There was no answer within 500 ms'), 'outcomeUnknown', 'outcomeUnknown'],
  ])('by %s is of the kind %s, in a Cluster %s', (error, kind, kindInCluster) => {
    expect(explain(error, false).kind).toBe(kind);
    expect(explain(error, true).kind).toBe(kindInCluster);
  });

  it('is told in words, also of an error that has a code alone', () => {
    expect(explain(reply('LOADING'), false).message).toBe('Redis cannot be used: LOADING');
    const refused = Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' });
    expect(explain(refused, false).message).toBe('Redis cannot be used: ECONNREFUSED');
  });
});
