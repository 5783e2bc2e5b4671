import { explain, NotConnectedError, OutageLog } from './redis-failure.js';

const reply = (message: string) => Object.assign(new Error(message), { name: 'ReplyError' });

describe('explain', () => {
  const failures: [error: Error, kind: string, kindInCluster: string][] = [
    [new NotConnectedError(), 'noConnection', 'failed'],
    [new Error("Stream isn't writeable and enableOfflineQueue options is false"), 'noConnection', 'failed'],
    [reply("OOM command not allowed when used memory > 'maxmemory'."), 'failed', 'failed'],
    [reply('CLUSTERDOWN The cluster is down'), 'failed', 'failed'],
    [new Error('Too many Cluster redirections. Last error: MOVED 1 a:1'), 'failed', 'failed'],
    [reply('WRONGTYPE Operation against a key holding the wrong kind of value'), 'wrongType', 'wrongType'],
    [reply('ERR Error running script (call to f_1): @user_script:33: WRONGTYPE …'), 'wrongType', 'wrongType'],
    [new Error('Connection is closed.'), 'outcomeUnknown', 'outcomeUnknown'],
    [new Error('There was no answer within 500 ms'), 'outcomeUnknown', 'outcomeUnknown'],
  ];
  it.each(failures.map(([error, ...kinds]) => [error.message, ...kinds, error] as const))(
    'returns for "%s" the kind %s, of a Cluster %s',
    (_message, kind, kindInCluster, error) => {
      expect(explain(error, false).kind).toBe(kind);
      expect(explain(error, true).kind).toBe(kindInCluster);
    },
  );

  it('returns a message, also for an error that has only a code', () => {
    expect(explain(reply('LOADING'), false).message).toBe('Redis cannot be used: LOADING');
    const refused = Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' });
    expect(explain(refused, false).message).toBe('Redis cannot be used: ECONNREFUSED');
  });
});

describe('OutageLog', () => {
  let lines: string[];
  let log: OutageLog;
  beforeEach(() => {
    lines = [];
    log = new OutageLog((line) => lines.push(line));
  });

  it('logs each reason once, and once that the component is there again', () => {
    for (const reason of ['refused', 'refused', 'wrong password', 'refused']) {
      log.away('Redis', new Error(reason));
    }
    log.back('Redis');
    log.back('Redis');
    log.away('Redis', new Error('refused'));
    expect(lines).toEqual([
      'Redis cannot be used, and is tried again: refused',
      'Redis cannot be used, and is tried again: wrong password',
      'Redis is there again',
      'Redis cannot be used, and is tried again: refused',
    ]);
  });

  it('logs each component by itself', () => {
    log.away('The first', new Error('refused'));
    log.away('The other', new Error('refused'));
    log.back('The third');
    log.back('The other');
    expect(lines).toEqual([
      'The first cannot be used, and is tried again: refused',
      'The other cannot be used, and is tried again: refused',
      'The other is there again',
    ]);
  });
});
