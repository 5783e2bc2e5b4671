import { lookup } from 'node:dns/promises';
import { request as requestPlain } from 'node:http';
import { request as requestEncrypted } from 'node:https';
import { isPublicAddress } from './rules/public-address.js';

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
  // An address is found as itself. IPv6 has brackets in a URL.
  const found = await lookup(url.hostname.replaceAll(/[[\]]/g, ''), { all: true });
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
