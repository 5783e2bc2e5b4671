import { request as requestPlain } from 'node:http';
import { request as requestEncrypted } from 'node:https';
import { FAR_CONNECTION, findAddresses, toLookup } from '../http/find-addresses.js';
import { ALLOW_PRIVATE, isPublicAddress } from './rules/public-address.js';

/**
 * Sends a POST on a connection of its own, to an address that was checked, whatever the name means later.
 * Follows no redirect, and does not read the body of the response, because it may never end.
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
  const found = await findAddresses(url.hostname, signal);
  const allowed = found.filter(({ address }) => allowsPrivate || isPublicAddress(address));
  if (allowed.length === 0) {
    const addresses = found.map(({ address }) => address).join(', ');
    throw new Error(`${url.hostname} has the private address ${addresses}. ${ALLOW_PRIVATE}`);
  }
  const request = url.protocol === 'https:' ? requestEncrypted : requestPlain;
  return new Promise((resolve, reject) => {
    const connection = { ...FAR_CONNECTION, agent: false as const, lookup: toLookup(async () => allowed) };
    request(url, { method: 'POST', headers, signal, ...connection }, (response) => {
      resolve(response.statusCode ?? 0);
      response.destroy();
    })
      .on('error', reject)
      // If the receiver switches protocols, neither a response nor an error is emitted.
      .on('close', () => reject(new Error('The connection was closed without a response')))
      .end(body);
  });
}
