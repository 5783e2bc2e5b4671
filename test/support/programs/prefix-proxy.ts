import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A proxy that serves a service below a prefix, which it removes. */
export interface PrefixProxy {
  /** With the prefix. */
  url: string;
  /** The requests that got an error, such as `404 /shop/nothing`. */
  errors: string[];
  stop(): void;
}

/** Starts a proxy before a service. */
export async function startPrefixProxy(prefix: string, serviceUrl: string): Promise<PrefixProxy> {
  const errors: string[] = [];
  const server = createServer((asked, reply) => {
    const { url = '', method, headers } = asked;
    const isOurs = url.startsWith(`${prefix}/`);
    const onResponse = (status = 502) => {
      if (status >= 400) {
        errors.push(`${status} ${url}`);
      }
    };
    if (!isOurs) {
      onResponse(404);
      reply.writeHead(404).end('Not below the prefix');
      return;
    }
    const sent = request(serviceUrl + url.slice(prefix.length), { method, headers }, (response) => {
      onResponse(response.statusCode);
      reply.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(reply);
    });
    sent.on('error', () => reply.destroy());
    asked.pipe(sent);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${prefix}`,
    errors,
    stop: () => server.close().closeAllConnections(),
  };
}
