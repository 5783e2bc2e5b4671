import dns from 'node:dns/promises';
import { findAddresses } from '../../src/http/find-addresses.js';
import { until } from '../support/eventually.js';
import { DnsServer } from '../support/programs/dns-server.js';

const NEVER = new AbortController().signal;
let server: DnsServer;
/** The names that the operating system was to look up; those that hang until they are released. */
let lookedUp: string[];
let release: (() => void)[];

beforeAll(async () => {
  server = await DnsServer.start({
    'both.example': ['192.0.2.7', '2001:db8::7'],
    'six.example': ['2001:db8::6'],
    'empty.example': [],
    'half.example': ['192.0.2.8', 'no reply'],
    'hanging.example': ['no reply'],
    'hanging-too.example': ['no reply'],
  });
});
beforeEach(() => {
  server.useHere();
  [lookedUp, release] = [[], []];
  jest.spyOn(dns, 'lookup').mockImplementation(((name: string) => {
    lookedUp.push(name);
    const found = [{ address: '10.0.0.1', family: 4 }];
    return new Promise((resolve) =>
      name.startsWith('hanging') ? release.push(() => resolve(found)) : resolve(found),
    );
  }) as unknown as typeof dns.lookup);
});
afterEach(() => jest.restoreAllMocks());
afterAll(() => server.stop());

describe('findAddresses', () => {
  it.each([
    ['both.example', ['192.0.2.7', '2001:db8:0:0:0:0:0:7']],
    ['half.example', ['192.0.2.8']],
    ['six.example', ['2001:db8:0:0:0:0:0:6']],
    ['192.0.2.1', ['192.0.2.1']],
    ['[2001:db8::1]', ['2001:db8::1']],
  ])('returns the addresses that DNS has, and needs no thread: %s', async (host, addresses) => {
    const found = await findAddresses(host, NEVER);
    const full = (address: string) =>
      new URL(`http://${address.includes(':') ? `[${address}]` : address}`).host;
    expect(found.map(({ address }) => full(address))).toEqual(addresses.map(full));
    expect(lookedUp).toEqual([]);
  });

  it.each(['hosts-file.example', 'empty.example', 'receiver'])(
    'looks up %s by the operating system, because DNS has no address of it',
    async (host) => {
      expect(await findAddresses(host, NEVER)).toEqual([{ address: '10.0.0.1', family: 4 }]);
      expect(lookedUp).toEqual([host]);
    },
  );

  it('queries a name without a dot too, which a container may have', async () => {
    await findAddresses('receiver', NEVER);
    expect(server.queried).toContain('receiver');
  });

  it('looks up no name by the operating system if DNS is silent, and ends with its signal', async () => {
    const aborting = new AbortController();
    const waiting = ['hanging.example', 'hanging-too.example'].map((name) =>
      findAddresses(name, aborting.signal),
    );
    await until(() => server.queried.includes('hanging-too.example'));
    // The others do not wait.
    expect(await findAddresses('both.example', NEVER)).toHaveLength(2);
    expect(await findAddresses('receiver', NEVER)).toHaveLength(1);
    aborting.abort(new Error('No response'));
    await Promise.all(waiting.map((each) => expect(each).rejects.toMatchObject({ code: 'ECANCELLED' })));
    expect(lookedUp).toEqual(['receiver']);
  });

  it('looks up one name at a time, and each once', async () => {
    const found = ['hanging', 'hanging', 'receiver'].map((name) => findAddresses(name, NEVER));
    const aborting = new AbortController();
    const impatient = findAddresses('receiver', aborting.signal);
    await until(() => lookedUp.length === 1);
    aborting.abort(new Error('No response'));
    await expect(impatient).rejects.toThrow('No response');
    expect(lookedUp).toEqual(['hanging']);
    release.forEach((resolve) => resolve());
    await Promise.all(found);
    expect(lookedUp).toEqual(['hanging', 'receiver']);
  });
});
