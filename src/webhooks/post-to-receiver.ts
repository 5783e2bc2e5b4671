import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { request as requestPlain } from 'node:http';
import { request as requestEncrypted } from 'node:https';
import { isPublicAddress } from './rules/public-address.js';

/** Look-ups in flight by name. Few run at once, and the database's may wait for them, so each name has one, even if it takes long. */
const lookups = new Map<string, Promise<LookupAddress[]>>();

/**
 * Sends a POST on a connection of its own, to an address that was checked, whatever the name means later. Follows no redirect, and does
 * not read the body of the response, because it may never end.
 *
 * @param signal ends the request.
 * @returns the status of the response.
 * @throws the error of the connection, or of a name without a public address, unless `allowsPrivate`.
 */
export async function postToReceiver(
  url: URL,
  headers: Record<string, string>,
  body: string,
  signal: AbortSignal,
  allowsPrivate: boolean,
): Promise<number> {
  const aborted = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  });
  const found = await Promise.race([lookUp(url.hostname), aborted]);
  const allowed = found.filter(({ address }) => allowsPrivate || isPublicAddress(address));
  if (allowed.length === 0) {
    const addresses = found.map(({ address }) => address).join(', ');
    throw new Error(`${url.hostname} has no public address, but ${addresses} (WEBHOOK_PRIVATE_ADDRESSES)`);
  }
  const request = url.protocol === 'https:' ? requestEncrypted : requestPlain;
  return new Promise((resolve, reject) => {
    const options = { method: 'POST', headers, agent: false, signal };
    request(url, { ...options, lookup: (_name, _options, done) => done(null, allowed) }, (response) => {
      resolve(response.statusCode ?? 0);
      response.destroy();
    })
      .on('error', reject)
      // One that switches protocols is no response, and no error either.
      .on('close', () => reject(new Error('The connection was closed without a response')))
      .end(body);
  });
}

/** Returns the addresses of a name; those of an address are itself. */
function lookUp(hostname: string): Promise<LookupAddress[]> {
  // IPv6 has brackets in a URL.
  const name = hostname.replaceAll(/[[\]]/g, '');
  const running = lookups.get(name) ?? lookup(name, { all: true }).finally(() => lookups.delete(name));
  lookups.set(name, running);
  return running;
}
