import { Pacer } from './pacer.js';
import { hasOwnClock, type ClientPlatform } from './platform.js';

/** The pacers that a client of this process still uses. */
const pacers = new Map<string, WeakRef<Pacer>>();

const unused = new FinalizationRegistry<string>((name) => {
  if (pacers.get(name)?.deref() === undefined) {
    pacers.delete(name);
  }
});

/**
 * Returns the pacer of a key, the same one for all clients in this process, so that a client for each request
 * is paced too. A client with a clock of its own gets a pacer of its own.
 */
export function findPacer(baseUrl: string, apiKey: string, platform: ClientPlatform): Pacer {
  if (!hasOwnClock(platform)) {
    return new Pacer(platform);
  }
  const name = `${new URL(baseUrl).origin} ${apiKey.trim()}`;
  const known = pacers.get(name)?.deref();
  if (known !== undefined) {
    return known;
  }
  const pacer = new Pacer(platform);
  pacers.set(name, new WeakRef(pacer));
  unused.register(pacer, name);
  return pacer;
}
