import { once } from 'node:events';
import net from 'node:net';
import { freePort } from './free-port.js';

export interface DatabaseProxy {
  url: string;
  /** Closes every connection and refuses new ones, like a stopped server. */
  goAway(): void;
  /** Keeps every connection, accepts new ones, and forwards nothing, like a hanging server. */
  hang(): void;
  /** Holds each chunk of data for so long before it is forwarded, in both directions. */
  slowDown(delayMs: number): void;
  /**
   * Permanently drops all replies on the open connections, like a path that has lost one direction. New
   * connections work.
   */
  loseReplies(): void;
  /** Refuses new connections; open ones stay. */
  refuse(): void;
  comeBack(): Promise<void>;
  /**
   * Forwards new connections to another port, as a DNS name can be changed. Open connections stay where they
   * are.
   */
  leadTo(port: number): void;
  close(): void;
}

/**
 * Starts a proxy in front of a database, or of a Redis, which a test can stop or hang.
 *
 * @param heldApplication the `application_name` of the connections that hang when it does; else all.
 */
export async function startDatabaseProxy(
  databaseUrl: string,
  heldApplication?: string,
): Promise<DatabaseProxy> {
  const target = new URL(databaseUrl);
  let targetPort = Number(target.port);
  const sockets = new Set<net.Socket>();
  const servers = new Set<net.Socket>();
  /** Those of them whose replies are dropped. */
  const unheard = new WeakSet<net.Socket>();
  let hanging = false;
  let delayMs = 0;
  const server = net.createServer((near) => {
    const far = net.connect(targetPort, target.hostname);
    let isHeld = heldApplication === undefined;
    // The startup message has it, and comes first (PostgreSQL, "Message Formats").
    near.once('data', (startup) => (isHeld ||= startup.includes(`application_name\0${heldApplication}\0`)));
    servers.add(far);
    far.on('close', () => servers.delete(far));
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on('data', (chunk) => {
        if ((hanging && isHeld) || unheard.has(from)) {
          return;
        }
        if (delayMs === 0) {
          to.write(chunk);
          return;
        }
        from.pause();
        setTimeout(() => {
          to.write(chunk);
          from.resume();
        }, delayMs);
      });
      from.on('error', () => from.destroy());
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  });
  const port = await freePort();
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(databaseUrl);
  url.host = `127.0.0.1:${port}`;
  url.searchParams.delete('connect_timeout');
  const goAway = () => {
    server.close();
    for (const socket of sockets) {
      socket.destroy();
    }
  };
  return {
    url: url.href,
    goAway,
    hang: () => {
      hanging = true;
    },
    slowDown: (ms) => {
      delayMs = ms;
    },
    loseReplies: () => servers.forEach((socket) => unheard.add(socket)),
    refuse: () => server.close(),
    comeBack: async () => {
      hanging = false;
      delayMs = 0;
      if (!server.listening) {
        server.listen(port, '127.0.0.1');
        await once(server, 'listening');
      }
    },
    leadTo: (other) => {
      targetPort = other;
    },
    close: goAway,
  };
}
