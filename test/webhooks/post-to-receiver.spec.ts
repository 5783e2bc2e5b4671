import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import dns from 'node:dns/promises';
import { once } from 'node:events';
import {
  type AddressInfo,
  createServer,
  getDefaultAutoSelectFamilyAttemptTimeout,
  setDefaultAutoSelectFamily,
  type Socket,
} from 'node:net';
import { machineMs, postToReceiver } from '../../src/webhooks/post-to-receiver.js';
import { useReceiver } from '../support/programs/receiver.js';

const receiver = useReceiver();

/** Sends a POST to a name that the operating system has with these addresses, or to an address. */
function postTo(found: string[], allowsPrivate = true, host = 'receiver.example', timeoutMs = 10_000) {
  const addresses = found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  jest.spyOn(dns, 'lookup').mockResolvedValue(addresses as never);
  const url = `http://${host}:${receiver.port}/hook`;
  return postToReceiver({ url, headers: {}, body: '{}', allowsPrivate, endMs: machineMs() + timeoutMs });
}
afterEach(() => jest.restoreAllMocks());

describe('a POST to a name', () => {
  it('is sent to the address that the operating system has, and names the host', async () => {
    expect(await postTo(['127.0.0.1'])).toEqual({ status: 204, retryAfter: null, body: '' });
    expect(dns.lookup).toHaveBeenCalledWith('receiver.example', { all: true });
    expect(receiver.received[0]?.headers).toMatchObject({
      host: `receiver.example:${receiver.port}`,
      connection: 'close',
    });
  });

  it.each([
    [['127.0.0.1', '::1'], '127.0.0.1, ::1'],
    [['64:ff9b::a00:1'], '64:ff9b::a00:1'],
  ])('is refused if it has only private addresses: %j', async (found, named) => {
    const message =
      `receiver.example has the private address ${named}. ` +
      'Set WEBHOOK_ALLOW_PRIVATE_ADDRESSES=true to allow it.';
    await expect(postTo(found, false)).rejects.toThrow(message);
    expect(receiver.received).toStrictEqual([]);
  });

  it('is sent to no private address beside a public one', async () => {
    const found = ['127.0.0.1', '64:ff9b::808:808'];
    await expect(postTo(found, false, 'both.example', 500)).rejects.toThrow(
      /UNREACH|NOTAVAIL|No response within/,
    );
    expect(receiver.received).toStrictEqual([]);
  });

  it.each(['127.0.0.1', '[::1]', '[::ffff:127.0.0.1]'])('is refused if it is a private address: %s', (host) =>
    expect(postTo([], false, host)).rejects.toThrow('has the private address'),
  );
});

describe('a POST to a name with an address that leads nowhere', () => {
  const FAR = ['2001:db8::1', '127.0.0.1'];

  it('succeeds if the other address takes longer to connect than Node would wait', async () => {
    /** Keeps this process from seeing that it is connected. */
    const stall = () => {
      const endMs = performance.now() + getDefaultAutoSelectFamilyAttemptTimeout() + 50;
      while (performance.now() < endMs) {
        // Node may neither write nor read.
      }
    };
    const delay = (message: unknown) => {
      const { socket } = message as { socket: Socket };
      socket.once('connectionAttempt', () => process.nextTick(stall));
    };
    subscribe('net.client.socket', delay);
    expect(await postTo(FAR.toReversed())).toMatchObject({ status: 204 });
    unsubscribe('net.client.socket', delay);
  });

  it('succeeds without Happy Eyeballs by default, as with --no-network-family-autoselection', async () => {
    setDefaultAutoSelectFamily(false);
    expect(await postTo(FAR)).toMatchObject({ status: 204 });
    setDefaultAutoSelectFamily(true);
  });
});

describe('a receiver', () => {
  /** Sends a POST to a server that writes the same again and again, and returns the outcome. */
  async function postToFlood(start: string, repeated: string) {
    const server = createServer((socket) => {
      socket.on('error', () => {});
      socket.write(start);
      const more = () => {
        while (socket.writable && socket.write(repeated)) {
          // Until it must wait.
        }
      };
      socket.on('drain', more);
      more();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const outcome = await postToReceiver({
      url,
      headers: {},
      body: '',
      allowsPrivate: true,
      endMs: machineMs() + 10_000,
    }).catch((error: Error) => error.message);
    server.close();
    await once(server, 'close');
    return outcome;
  }
  const FAILURE = 'There was no response within the first 128 KiB';

  it.each([
    ['100 Continue', 'HTTP/1.1 100 Continue\r\n\r\n'],
    ['103 Early Hints', 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'],
  ])('is cut off if it floods %s', async (_what, response) => {
    expect(await postToFlood('', response.repeat(1000))).toBe(FAILURE);
  });

  it('may send a few responses of status 1xx before its own', async () => {
    receiver.respond = (response) => {
      response.writeContinue();
      response.writeEarlyHints({ link: '</a>; rel=preload' });
      response.writeProcessing();
      response.writeHead(200).end('here');
    };
    expect(await postTo(['127.0.0.1'])).toEqual({ status: 200, retryAfter: null, body: 'here' });
  });

  it('is cut off if it floods what belongs to no body, with the beginning of the body', async () => {
    const start = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
    const outcome = await postToFlood(start, `1;${'a'.repeat(10_000)}\r\nb\r\n`);
    expect(outcome).toEqual({ status: 200, retryAfter: null, body: expect.stringMatching(/^b{1,20}$/) });
  });
});
