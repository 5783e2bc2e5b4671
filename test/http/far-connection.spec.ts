import dns from 'node:dns/promises';
import { promisify } from 'node:util';
import { farConnection } from '../../src/http/connections/far-connection.js';

const FOUND = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];
/** The look-ups of the operating system, each with what ends it. */
let lookUps: { name: string; end: (found?: typeof FOUND) => void; fail: (error: Error) => void }[];

beforeEach(() => {
  lookUps = [];
  jest
    .spyOn(dns, 'lookup')
    .mockImplementation(
      ((name: string) =>
        new Promise((resolve, reject) =>
          lookUps.push({ name, end: (found = FOUND) => resolve(found), fail: reject }),
        )) as unknown as typeof dns.lookup,
    );
});
afterEach(() => jest.restoreAllMocks());

const find = (name: string, { lookup } = farConnection()) =>
  promisify<string, object, unknown>(lookup as never)(name, { all: true });

describe('farConnection', () => {
  it('looks up a name once, however many connections wait for it, and again for a later one', async () => {
    const found = [find('hanging'), find('hanging'), find('other')];
    expect(lookUps.map(({ name }) => name)).toEqual(['hanging', 'other']);
    lookUps.forEach(({ end }) => end());
    expect(await Promise.all(found)).toEqual([FOUND, FOUND, FOUND]);
    const later = find('hanging');
    lookUps.at(-1)?.end();
    await later;
    expect(lookUps.map(({ name }) => name)).toEqual(['hanging', 'other', 'hanging']);
  });

  it('gives the failure of a look-up to all that wait, and looks up the name again', async () => {
    const found = Promise.allSettled([find('away'), find('away')]);
    const reason = new Error('getaddrinfo EAI_AGAIN away');
    lookUps[0]?.fail(reason);
    expect(await found).toEqual([
      { status: 'rejected', reason },
      { status: 'rejected', reason },
    ]);
    const later = find('away');
    lookUps.at(-1)?.end();
    expect(await later).toEqual(FOUND);
  });

  it('gives the selected addresses only, or the first of them', async () => {
    const connection = farConnection(([, second]) => (second === undefined ? [] : [second]));
    const found = find('both', connection);
    lookUps[0]?.end();
    expect(await found).toEqual([FOUND[1]]);
    const first = new Promise((resolve) => {
      connection.lookup('both', {}, (...args) => resolve(args));
    });
    lookUps.at(-1)?.end();
    expect(await first).toEqual([null, '::1', 6]);
  });
});
