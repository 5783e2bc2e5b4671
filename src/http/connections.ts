import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/**
 * The connections of a server, so that closing it does not wait for clients. Node ends those that were kept alive,
 * but waits for one that has never sent a request, as browsers open to spare, or that sends one for ever.
 */
export class Connections {
  /** Connections on which no request has arrived yet. */
  private readonly unused = new Set<Socket>();

  constructor(private readonly server: Server) {
    server.on('connection', (socket) => {
      this.unused.add(socket);
      socket.once('close', () => this.unused.delete(socket));
    });
    server.on('request', ({ socket }) => this.unused.delete(socket));
  }

  /** Ends what was never used now, and what is left when `graceMs` milliseconds are over. */
  end(graceMs: number): void {
    for (const socket of this.unused) {
      socket.destroy();
    }
    setTimeout(() => this.server.closeAllConnections(), graceMs).unref();
  }
}
