import { createSocket, type RemoteInfo } from 'node:dgram';
import { once } from 'node:events';
import { isIP } from 'node:net';

/**
 * The addresses of a name, and whether a query of a family that it lacks gets no reply. A name that is not
 * given does not exist.
 */
type Answers = Record<string, readonly string[]>;
const NO_REPLY = 'no reply';

const HEADER_BYTES = 12;
const TYPES = { 4: 1, 6: 28 };
const NAME_ERROR = 3;

/** A server of DNS on this machine (RFC 1035, section 4), with the names that were queried. */
export class DnsServer {
  readonly queried: string[] = [];
  private readonly socket = createSocket('udp4', (query, client) => this.reply(query, client));

  private constructor(readonly answers: Answers) {}

  /** On a free port unless one is given. */
  static async start(answers: Answers, port = 0, host = '127.0.0.1'): Promise<DnsServer> {
    const server = new DnsServer(answers);
    server.socket.bind(port, host);
    await once(server.socket, 'listening');
    return server;
  }

  get address(): string {
    const { address, port } = this.socket.address();
    return `${address}:${port}`;
  }

  stop(): void {
    this.socket.close();
  }

  private reply(query: Buffer, client: RemoteInfo): void {
    const labels: string[] = [];
    let end = HEADER_BYTES;
    for (let length = query[end] ?? 0; length > 0; length = query[end] ?? 0) {
      labels.push(query.toString('latin1', end + 1, end + 1 + length));
      end += 1 + length;
    }
    const name = labels.join('.').toLowerCase();
    const type = query.readUInt16BE(end + 1);
    this.queried.push(name);
    const known = Object.hasOwn(this.answers, name) ? this.answers[name] : undefined;
    const found = (known ?? []).filter((address) => TYPES[isIP(address) as 4 | 6] === type);
    if (found.length === 0 && known?.includes(NO_REPLY)) {
      return;
    }
    const header = Buffer.from(query.subarray(0, HEADER_BYTES));
    header.writeUInt16BE(0x8180 | (known === undefined ? NAME_ERROR : 0), 2);
    header.writeUInt16BE(found.length, 6);
    header.writeUInt32BE(0, 8);
    const question = query.subarray(HEADER_BYTES, end + 5);
    const records = found.map((address) => record(type, address));
    this.socket.send(Buffer.concat([header, question, ...records]), client.port, client.address);
  }
}

/** Returns a record of the name in the question. */
function record(type: number, address: string): Buffer {
  const data = type === TYPES[4] ? Buffer.from(address.split('.').map(Number)) : toBytes(address);
  const head = Buffer.from([0xc0, HEADER_BYTES, 0, type, 0, 1, 0, 0, 0, 60, 0, data.length]);
  return Buffer.concat([head, data]);
}

/** Returns the bytes of an IPv6 address without an IPv4 part. */
function toBytes(address: string): Buffer {
  const [start = '', end = ''] = address.split('::');
  const groups = (text: string) => text.split(':').filter(Boolean);
  const zeros = Array.from({ length: 8 - groups(start).length - groups(end).length }, () => '0');
  const hex = [...groups(start), ...zeros, ...groups(end)].map((group) => group.padStart(4, '0'));
  return Buffer.from(hex.join(''), 'hex');
}
