import { once } from 'node:events';
import net from 'node:net';

/** An address that forwards to a server, and can be changed to another, as a DNS name can. */
export class MovingAddress {
  private readonly sockets = new Set<net.Socket>();

  private constructor(
    private readonly server: net.Server,
    private target: number,
  ) {
    server.on('connection', (near) => {
      const far = net.connect(this.target, '127.0.0.1');
      for (const [from, to] of [
        [near, far],
        [far, near],
      ] as const) {
        this.sockets.add(from);
        from.on('error', () => {});
        from.on('close', () => {
          this.sockets.delete(from);
          to.destroy();
        });
        from.pipe(to);
      }
    });
  }

  static async of(port: number): Promise<MovingAddress> {
    const server = net.createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new MovingAddress(server, port);
  }

  get port(): number {
    return (this.server.address() as net.AddressInfo).port;
  }

  /** Forwards new connections to this port. Open connections stay where they are. */
  leadTo(port: number): void {
    this.target = port;
  }

  close(): void {
    this.server.close();
    this.sockets.forEach((socket) => socket.destroy());
  }
}
