import net from 'node:net';
import { text } from 'node:stream/consumers';

export interface RawAnswer {
  status: number;
  /** By name in lower case. */
  headers: Record<string, string>;
  body: string;
}

/**
 * Writes bytes to the server as they are, for what no HTTP client would send, and reads until the server closes:
 * a request that is well-formed should say `Connection: close`.
 */
export async function sendRaw(url: string, ...parts: (string | Buffer)[]): Promise<RawAnswer> {
  const { hostname, port } = new URL(url);
  const socket = net.connect(Number(port), hostname);
  socket.write(Buffer.concat(parts.map((part) => Buffer.from(part as string, 'latin1'))));
  return parseResponse(await text(socket));
}

/** A response as it came; more that follow it are in its body. */
export function parseResponse(received: string): RawAnswer {
  const [head = '', ...rest] = received.split('\r\n\r\n');
  const [statusLine = '', ...lines] = head.split('\r\n');
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
