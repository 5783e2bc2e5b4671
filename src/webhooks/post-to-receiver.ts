import type { LookupAddress } from 'node:dns';
import { type IncomingMessage, request as requestPlain } from 'node:http';
import { request as requestEncrypted } from 'node:https';
import { isIP } from 'node:net';
import { finished } from 'node:stream/promises';
import { farConnection } from '../http/connections/far-connection.js';
import { ALLOW_PRIVATE, isPublicAddress } from './rules/public-address.js';

/** How long a receiver may take, the look-up of its name included. */
export const DEADLINE_MS = 15_000;
const NO_RESPONSE = `No response within ${DEADLINE_MS / 1000} s`;
/** How long the beginning of a body is awaited after the status. */
const BODY_MS = 1000;
/** How much is kept of what a receiver responds. */
export const RESPONSE_BODY_MAX_BYTES = 1000;
/** How much is read from a receiver: several responses of status 1xx, headers, and a part of the body. */
const READ_MAX_BYTES = 128 * 1024;

/** Returns the milliseconds of a clock that the processes of a machine share, and that is never set. */
export const machineMs = () => Number(process.hrtime.bigint() / 1_000_000n);

export interface Post {
  url: string;
  headers: Record<string, string>;
  body: string;
  allowsPrivate: boolean;
  /** When its time is over, by `machineMs`. */
  endMs: number;
}

/** A response, with the beginning of its body. */
export interface ReceivedResponse {
  status: number;
  /** Its `Retry-After`; null if it has none. */
  retryAfter: string | null;
  body: string;
}

/**
 * Sends a POST on a connection of its own, or by the proxy of Node's settings, which then finds the address
 * of a name. Follows no redirect.
 *
 * @throws the error of the connection, or of a host without a public address, unless `allowsPrivate`.
 */
export async function postToReceiver(post: Post): Promise<ReceivedResponse> {
  const timeoutMs = post.endMs - machineMs();
  if (timeoutMs <= 0) {
    throw new Error(NO_RESPONSE);
  }
  const signal = AbortSignal.timeout(timeoutMs);
  const url = new URL(post.url);
  /** Checks the addresses that are connected to, whatever the name means later. */
  const select = (found: LookupAddress[]) => {
    const allowed = found.filter(({ address }) => post.allowsPrivate || isPublicAddress(address));
    if (allowed.length === 0) {
      const addresses = found.map(({ address }) => address).join(', ');
      throw new Error(`${url.hostname} has the private address ${addresses}. ${ALLOW_PRIVATE}`);
    }
    return allowed;
  };
  const address = url.hostname.replaceAll(/[[\]]/g, '');
  if (isIP(address) !== 0) {
    select([{ address, family: isIP(address) }]);
  }
  const request = url.protocol === 'https:' ? requestEncrypted : requestPlain;
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    // Without an agent of ours, which would not use the proxies of Node's settings.
    const headers = { ...post.headers, Connection: 'close' };
    const sent = request(url, { method: 'POST', headers, signal, ...farConnection(select) }, resolve)
      .on('error', (error) => reject(signal.aborted ? new Error(NO_RESPONSE) : error))
      // If the receiver switches protocols, neither a response nor an error is emitted.
      .on('close', () => reject(new Error('The connection was closed without a response')))
      .on('socket', (socket) => {
        let read = 0;
        socket.on('data', ({ length }: Buffer) => {
          read += length;
          if (read > READ_MAX_BYTES) {
            sent.destroy(new Error(`There was no response within the first ${READ_MAX_BYTES / 1024} KiB`));
          }
        });
      })
      .end(post.body);
  });
  const { statusCode: status = 0, headers } = response;
  return { status, retryAfter: headers['retry-after'] ?? null, body: await readBeginning(response) };
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
