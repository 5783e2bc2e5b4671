import type { LookupAddress } from 'node:dns';
import { lookup, Resolver } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { callbackify } from 'node:util';

/** How long a server of DNS may take, before the next is queried, and how often each is. */
const QUERIES = { timeout: 2000, tries: 2 };
/** How long the addresses of one family wait for those of the other, which some servers never send. */
const OTHER_FAMILY_MS = 500;
/**
 * Codes of a query without a reply in time. After any other failure the operating system may have the name.
 */
const NO_REPLY = new Set(['ETIMEOUT', 'ECANCELLED']);

/** The look-ups of the operating system that have not ended, by name. */
const lookups = new Map<string, Promise<LookupAddress[]>>();
/** The last of them, for which the next one waits. */
let last: Promise<unknown> = Promise.resolve();

/**
 * Options of a connection to a host that may be far away, or have an address that leads nowhere. Node gives
 * each address but the last 250 ms; a lost packet alone takes a second.
 */
export const FAR_CONNECTION = { autoSelectFamily: true, autoSelectFamilyAttemptTimeout: 2000 } as const;

/**
 * Returns the addresses of a host that somebody else operates, so that no wait for its name delays anything
 * else. Node's own look-ups occupy threads, of which two serve all names, also the database's. A query of DNS
 * needs no thread. Only a name that DNS denies, such as one of a hosts file or a search domain, is looked up
 * by the operating system, one at a time; never one without a reply.
 *
 * @param host as in a URL, where IPv6 has brackets.
 * @param signal ends the wait.
 * @throws the error of DNS or of the operating system; the reason of the signal.
 */
export async function findAddresses(host: string, signal: AbortSignal): Promise<LookupAddress[]> {
  const name = host.replaceAll(/[[\]]/g, '');
  const family = isIP(name);
  if (family !== 0) {
    return [{ address: name, family }];
  }
  signal.throwIfAborted();
  const found = await queryDns(name, signal);
  return found.length > 0 ? found : lookUp(name, signal);
}

/** Returns what Node calls to look up the host of a connection. */
export function toLookup(find: (host: string) => Promise<LookupAddress[]>): LookupFunction {
  return (host, { all }, done) =>
    callbackify(find)(host, (error, found) => {
      const [first] = found ?? [];
      if (first === undefined) {
        done(error, []);
      } else if (all === true) {
        done(null, found);
      } else {
        done(null, first.address, first.family);
      }
    });
}

/** Returns no addresses for a name that DNS does not have, or does not look up. */
async function queryDns(name: string, signal: AbortSignal): Promise<LookupAddress[]> {
  // A resolver of its own for each name, so that it uses the current servers.
  const resolver = new Resolver(QUERIES);
  const cancel = () => resolver.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  const addresses = (family: 4 | 6) => async (found: string[]) => {
    setTimeout(cancel, OTHER_FAMILY_MS).unref();
    return found.map((address) => ({ address, family }));
  };
  const families = await Promise.allSettled([
    resolver.resolve4(name).then(addresses(4)),
    resolver.resolve6(name).then(addresses(6)),
  ]);
  signal.removeEventListener('abort', cancel);
  const found = families.flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
  const failed = families.find((each) => each.status === 'rejected' && NO_REPLY.has(each.reason.code));
  if (found.length === 0 && failed?.status === 'rejected') {
    throw failed.reason;
  }
  return found;
}

async function lookUp(name: string, signal: AbortSignal): Promise<LookupAddress[]> {
  const found = lookups.get(name) ?? last.then(() => lookup(name, { all: true }));
  if (!lookups.has(name)) {
    lookups.set(name, found);
    last = found.catch(() => {}).finally(() => lookups.delete(name));
  }
  const aborted = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
  return Promise.race([found, aborted]);
}
