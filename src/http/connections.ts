import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/**
 * The connections of a server, so that closing it does not wait for clients. Node ends those that were kept alive,
 * but waits for one that has never sent a request, as browsers open to spare, or that sends one for ever.
 */
export class Connections {
  /** Connections on which no request is under way. */
  private readonly idle = new Set<Socket>();

  constructor(private readonly server: Server) {
    server.on('connection', (socket) => {
      this.idle.add(socket);
      socket.once('close', () => this.idle.delete(socket));
    });
    server.on('request', ({ socket }, response) => {
      this.idle.delete(socket);
      response.once('close', () => {
        if (!socket.destroyed) {
          this.idle.add(socket);
        }
      });
    });
  }

  /** Ends what is idle now, and the rest when `graceMs` milliseconds are over. */
  end(graceMs: number): void {
    for (const socket of this.idle) {
      socket.destroy();
    }
    setTimeout(() => this.server.closeAllConnections(), graceMs).unref();
  }
}
