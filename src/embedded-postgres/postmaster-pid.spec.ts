import { parsePostmasterPid } from './postmaster-pid.js';

const complete = [
  '4509',
  '/data/postgres',
  '1795239858',
  '54999',
  '',
  '127.0.0.1',
  '  2213018        22',
  'ready   ',
  '',
];

describe('parsePostmasterPid', () => {
  it('returns the process id, the cluster, the port and whether connections are accepted', () => {
    expect(parsePostmasterPid(complete.join('\n'))).toEqual({
      pid: 4509,
      clusterFolder: '/data/postgres',
      port: 54_999,
      ready: true,
    });
  });

  it.each(['starting', 'stopping', 'standby'])(
    'returns that a server is not ready when it is %s',
    (status) => {
      expect(parsePostmasterPid(complete.with(7, status).join('\n'))?.ready).toBe(false);
    },
  );

  it.each(['', '\n', 'nonsense', '-4509', '0', '4509\n/data/postgres\n'])('returns null for %j', (text) => {
    expect(parsePostmasterPid(text)).toBeNull();
  });
});
