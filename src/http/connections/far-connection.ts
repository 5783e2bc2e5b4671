import type { LookupAddress } from 'node:dns';
import dns from 'node:dns/promises';
import type { LookupFunction } from 'node:net';
import { callbackify } from 'node:util';

const lookups = new Map<string, Promise<LookupAddress[]>>();

/**
 * Returns the options of a connection to a host that may be far away, or have an address that leads nowhere.
 * Node gives each address but the last 250 ms; a lost packet alone takes a second. A look-up of a name
 * occupies a thread, perhaps for a minute, so each name has at most one.
 *
 * @param select returns the addresses that may be connected to, or throws an error that says why it may not.
 */
export function farConnection(select = (found: LookupAddress[]) => found) {
  const find = callbackify(async (name: string) => select(await lookUp(name)));
  const lookup: LookupFunction = (name, { all }, done) =>
    find(name, (error, found) => {
      const [first] = found ?? [];
      if (first === undefined) {
        done(error, []);
      } else if (all === true) {
        done(null, found);
      } else {
        done(null, first.address, first.family);
      }
    });
  return { autoSelectFamily: true, autoSelectFamilyAttemptTimeout: 2000, lookup } as const;
}

function lookUp(name: string): Promise<LookupAddress[]> {
  const found = lookups.get(name) ?? dns.lookup(name, { all: true }).finally(() => lookups.delete(name));
  lookups.set(name, found);
  return found;
}
