import net from 'node:net';
import { text } from 'node:stream/consumers';
import type { HttpResponse } from './http.js';

interface RawResponse {
  status: number;
  /** By name in lower case. */
  headers: Record<string, string>;
  body: string;
}

/** Returns the head of a request exactly as it is sent. */
export const head = (line: string, ...headers: string[]) =>
  [`${line} HTTP/1.1`, 'Host: x', ...headers, '\r\n'].join('\r\n');

/** Opens a connection. */
export const dial = (url: string) => net.connect(Number(new URL(url).port), '127.0.0.1');

/**
 * Sends bytes that no HTTP client would send, and reads until the server closes the connection. A well-formed
 * request should have `Connection: close`.
 */
export async function sendRaw(url: string, ...parts: (string | Buffer)[]): Promise<RawResponse> {
  const socket = dial(url);
  socket.write(Buffer.concat(parts.map((part) => Buffer.from(part as string, 'latin1'))));
  return parseResponse(await text(socket));
}

/** Converts a response to the form of `send`. */
export function toHttpResponse({ status, headers, body }: RawResponse): HttpResponse {
  return {
    status,
    headers: new Headers(headers),
    text: body,
    json: body === '' ? undefined : JSON.parse(body),
  };
}

/** Parses a response. Further responses are in its body. */
export function parseResponse(received: string): RawResponse {
  const [beginning = '', ...rest] = received.split('\r\n\r\n');
  const [statusLine = '', ...lines] = beginning.split('\r\n');
  const headers = lines.map((line) => [
    line.slice(0, line.indexOf(':')).toLowerCase(),
    line.slice(line.indexOf(':') + 1).trim(),
  ]);
  return {
    status: Number(statusLine.split(' ')[1]),
    headers: Object.fromEntries(headers),
    body: rest.join('\r\n\r\n'),
  };
}
