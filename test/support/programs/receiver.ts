import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** A request that a receiver got. */
export interface ReceivedRequest {
  method: string | undefined;
  path: string | undefined;
  headers: IncomingHttpHeaders & { 'webhook-id'?: string };
  body: string;
}

/** Responds to a request. */
type Respond = (response: ServerResponse, request: ReceivedRequest) => void;

/** Returns a function that responds with this status and these headers. */
export const respondWith =
  (status: number, headers: Record<string, string> = {}): Respond =>
  (response) =>
    response.writeHead(status, headers).end();

/** A receiver of webhooks on this machine. It responds 204 unless a test replaces `respond`. */
class Receiver {
  received: ReceivedRequest[] = [];
  respond = respondWith(204);
  private readonly server = createServer((request, response) => void this.receive(request, response));

  async start(): Promise<void> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/hook`;
  }

  /** Forgets what it has received, and responds 204 again. */
  reset(): void {
    this.received = [];
    this.respond = respondWith(204);
  }

  async stop(): Promise<void> {
    this.server.close().closeAllConnections();
    await once(this.server, 'close');
  }

  private async receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method, url: path, headers } = request;
    const whole = { method, path, headers, body: await text(request) };
    this.received.push(whole);
    this.respond(response, whole);
  }
}

/** Starts a receiver for the tests of a file, and resets it before each. */
export function useReceiver(): Receiver {
  const receiver = new Receiver();
  beforeAll(() => receiver.start());
  beforeEach(() => receiver.reset());
  afterAll(() => receiver.stop());
  return receiver;
}
