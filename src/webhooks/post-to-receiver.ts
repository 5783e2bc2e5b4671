import { lookup, type LookupAddress } from 'node:dns';
import { request as requestPlain } from 'node:http';
import { request as requestEncrypted } from 'node:https';
import type { LookupFunction } from 'node:net';
import { isPublicAddress, literalAddress } from './rules/public-address.js';

/** The response of a receiver. Its body is not read, because it may never end. */
interface ReceiverResponse {
  status: number;
  retryAfter: string | undefined;
}

/**
 * Sends a POST on a connection of its own, so that the address is checked each time. Follows no redirect.
 *
 * @param signal ends the request, also while the name is resolved.
 * @throws the error of the connection, or of an address that is not public, unless `allowsPrivate`.
 */
export async function postToReceiver(
  url: URL,
  headers: Record<string, string>,
  body: string,
  signal: AbortSignal,
  allowsPrivate: boolean,
): Promise<ReceiverResponse> {
  const address = literalAddress(url);
  // A connection to an address looks up no name.
  if (address !== null && !allowsPrivate && !isPublicAddress(address)) {
    throw notPublic(address);
  }
  const request = url.protocol === 'https:' ? requestEncrypted : requestPlain;
  const options = { method: 'POST', headers, agent: false, signal };
  return new Promise((resolve, reject) => {
    const sent = request(url, allowsPrivate ? options : { ...options, lookup: lookupPublic }, (response) => {
      resolve({ status: response.statusCode ?? 0, retryAfter: response.headers['retry-after'] });
      response.destroy();
    });
    sent.on('error', reject).end(body);
  });
}

/** Resolves a name to its public addresses, to one of which the connection is made, whatever the name means later. */
const lookupPublic: LookupFunction = (name, options, callback) => {
  lookup(name, { ...options, all: true }, (error, found: LookupAddress[]) => {
    const allowed = error === null ? found.filter(({ address }) => isPublicAddress(address)) : [];
    const [first] = allowed;
    if (first === undefined) {
      callback(error ?? notPublic(`${name} (${found.map(({ address }) => address).join(', ')})`), []);
    } else if (options.all) {
      callback(null, allowed);
    } else {
      callback(null, first.address, first.family);
    }
  });
};

function notPublic(what: string): Error {
  return new Error(`${what} is not a public address (WEBHOOK_PRIVATE_ADDRESSES)`);
}
