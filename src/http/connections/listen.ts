import { createServer, type Server } from 'node:net';
import { networkInterfaces } from 'node:os';
import { once } from 'node:events';
import { OperatorError } from '../../process/operator-error.js';

interface Place {
  host: string;
  port: number;
  /** The one that has the port. */
  setting: 'PORT' | 'METRICS_PORT';
}

/** Returns the loopback addresses that this machine has, IPv4 first. */
export function ownLoopback(): string[] {
  const own = new Set(
    Object.values(networkInterfaces()).flatMap((each) => each?.map(({ address }) => address)),
  );
  return ['127.0.0.1', '::1'].filter((address) => own.has(address));
}

/**
 * Makes a server listen on a host: `::` is every address of both families, or of IPv4 alone if the machine
 * lacks IPv6; `localhost` is 127.0.0.1 and ::1, because clients choose either.
 *
 * @throws OperatorError if it cannot.
 */
export async function listenOn(
  server: Server,
  { host, port, setting }: Place,
  listen: (address: string) => Promise<unknown>,
): Promise<void> {
  try {
    if (host === 'localhost') {
      const [first = '127.0.0.1', second] = ownLoopback();
      await listen(first);
      await alsoListenOn(server, second);
    } else {
      // Without a host, Node listens on `::`, and on 0.0.0.0 if that fails.
      await listen(host === '::' ? '' : host);
    }
  } catch (cause) {
    throw listenError(cause as Error, { host, port, setting });
  }
}

function listenError(cause: NodeJS.ErrnoException, { host, port, setting }: Place): OperatorError {
  const noAddress = `This machine has no address ${host}: set HOST to one of its addresses, or to :: for all`;
  const messages: Record<string, string> = {
    EADDRINUSE: `Port ${port} is in use: stop that program, or set ${setting}`,
    EACCES: `This user may not listen on port ${port}: set ${setting} to 1024 or higher`,
    EADDRNOTAVAIL: noAddress,
    EAFNOSUPPORT: noAddress,
    ENOTFOUND: noAddress,
  };
  const other = `The service cannot listen on HOST ${host} and ${setting} ${port}: ${cause.message}`;
  return new OperatorError(messages[cause.code ?? ''] ?? other, { cause });
}

/** Makes a server serve its port on another address too, and close after the connections of both. */
async function alsoListenOn(server: Server, host: string | undefined): Promise<void> {
  const address = server.address();
  if (host === undefined || address === null || typeof address === 'string') {
    return;
  }
  const options = { allowHalfOpen: true, noDelay: true };
  const other = createServer(options, (socket) => server.emit('connection', socket));
  other.listen(address.port, host);
  await once(other, 'listening');
  const close = server.close.bind(server);
  server.close = (callback) => {
    let isOneClosed = false;
    const onClosed = (error?: Error) => {
      if (isOneClosed) {
        callback?.(error);
      }
      isOneClosed = true;
    };
    other.close(onClosed);
    return close(onClosed);
  };
}
