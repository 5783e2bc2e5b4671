import { type IncomingMessage, request as requestPlain } from 'node:http';
import { request as requestEncrypted } from 'node:https';
import { finished } from 'node:stream/promises';
import { FAR_CONNECTION, findAddresses, toLookup } from '../http/find-addresses.js';
import { ALLOW_PRIVATE, isPublicAddress } from './rules/public-address.js';
import { RESPONSE_BODY_MAX_BYTES } from './webhook.schemas.js';

/** How long the beginning of a body is awaited after the status. */
const BODY_MS = 1000;

/** A response, with the beginning of its body. */
interface ReceivedResponse {
  status: number;
  body: string;
}

/**
 * Sends a POST on a connection of its own, to an address that was checked, whatever the name means later.
 * Follows no redirect.
 *
 * @param signal ends the request.
 * @throws the error of the connection, or of a name without a public address, unless `allowsPrivate`.
 */
export async function postToReceiver(
  url: URL,
  headers: Record<string, string>,
  body: string,
  signal: AbortSignal,
  allowsPrivate: boolean,
): Promise<ReceivedResponse> {
  const found = await findAddresses(url.hostname, signal);
  const allowed = found.filter(({ address }) => allowsPrivate || isPublicAddress(address));
  if (allowed.length === 0) {
    const addresses = found.map(({ address }) => address).join(', ');
    throw new Error(`${url.hostname} has the private address ${addresses}. ${ALLOW_PRIVATE}`);
  }
  const request = url.protocol === 'https:' ? requestEncrypted : requestPlain;
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const connection = { ...FAR_CONNECTION, agent: false as const, lookup: toLookup(async () => allowed) };
    request(url, { method: 'POST', headers, signal, ...connection }, resolve)
      .on('error', reject)
      // If the receiver switches protocols, neither a response nor an error is emitted.
      .on('close', () => reject(new Error('The connection was closed without a response')))
      .end(body);
  });
  return { status: response.statusCode ?? 0, body: await readBeginning(response) };
}

/**
 * Returns the beginning of a body, which may never end, or break off. It is text as PostgreSQL stores it,
 * without NUL or a part of a character. Closes the connection.
 */
async function readBeginning(response: IncomingMessage): Promise<string> {
  let beginning = Buffer.alloc(0);
  const timer = setTimeout(() => response.destroy(), BODY_MS);
  response.on('data', (chunk: Buffer) => {
    beginning = Buffer.concat([beginning, chunk]).subarray(0, RESPONSE_BODY_MAX_BYTES);
    if (beginning.length === RESPONSE_BODY_MAX_BYTES) {
      response.destroy();
    }
  });
  await Promise.allSettled([finished(response)]);
  clearTimeout(timer);
  response.destroy();
  return new TextDecoder().decode(beginning, { stream: true }).replaceAll('\0', '\uFFFD');
}
