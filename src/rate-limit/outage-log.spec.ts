import { OutageLog } from './outage-log.js';

describe('what the log is told of those who are away', () => {
  const tell = jest.fn<void, [string]>();
  let log: OutageLog;
  beforeEach(() => {
    tell.mockReset();
    log = new OutageLog(tell);
  });
  const lines = () => tell.mock.calls.map(([line]) => line);

  it('is each reason once, and that they are there again', () => {
    for (const reason of ['refused', 'refused', 'wrong password', 'refused']) {
      log.away('Redis', new Error(reason));
    }
    log.back('Redis');
    log.back('Redis');
    log.away('Redis', new Error('refused'));
    expect(lines()).toEqual([
      'Redis cannot be used, and is tried again: refused',
      'Redis cannot be used, and is tried again: wrong password',
      'Redis is there again',
      'Redis cannot be used, and is tried again: refused',
    ]);
  });

  it('is of each by itself', () => {
    log.away('The first', new Error('refused'));
    log.away('The other', new Error('refused'));
    log.back('The third');
    log.back('The other');
    expect(lines()).toEqual([
      'The first cannot be used, and is tried again: refused',
      'The other cannot be used, and is tried again: refused',
      'The other is there again',
    ]);
  });
});
