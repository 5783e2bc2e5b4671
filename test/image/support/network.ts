import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { command } from './command.js';
import { dnsResponse } from './dns-response.js';

/** Addresses that are reserved for tests (RFC 2544). */
const addressIn = (subnet: number, host: number) => `198.18.${subnet}.${host}`;

const DNS_PORT = 53;

/**
 * A network as a container engine makes one: a bridge with a DNS server, on which each container has an address and finds the
 * others by name. A name loses an address before the address disappears. (Lines of `/etc/hosts` would outlive it, because Go
 * caches them for five seconds.)
 */
export class Network {
  private readonly names = new Map<string, string>();
  private readonly id = process.pid % 250;
  private readonly dns: Socket = createSocket('udp4');
  private count = 1;

  private constructor(
    private readonly folder: string,
    private readonly bridge: string,
  ) {}

  static async open(): Promise<Network> {
    const folder = await mkdtemp(path.join(tmpdir(), 'animal-store-network-'));
    const network = new Network(folder, `asbr${process.pid}`);
    await command('ip', 'link', 'add', network.bridge, 'type', 'bridge');
    await command('ip', 'addr', 'add', `${network.gateway}/24`, 'dev', network.bridge);
    await command('ip', 'link', 'set', network.bridge, 'up');
    await network.listen();
    const [hosts = '', resolver = ''] = Object.values(network.files);
    await writeFile(hosts, '127.0.0.1 localhost\n');
    await writeFile(resolver, `nameserver ${network.gateway}\n`);
    return network;
  }

  /** Returns the address from which this test comes to the containers. */
  get gateway(): string {
    return addressIn(this.id, 1);
  }

  /** Returns the files by which every container finds names: its path there, and its path here. */
  get files(): Record<string, string> {
    return {
      '/etc/hosts': path.join(this.folder, 'hosts'),
      '/etc/resolv.conf': path.join(this.folder, 'resolv.conf'),
    };
  }

  /** Gives a container an address, and a network namespace of the name that is returned. */
  async join(service: string): Promise<{ namespace: string; address: string }> {
    this.count += 1;
    const address = addressIn(this.id, this.count);
    const namespace = `as${process.pid}-${this.count}`;
    const link = `as${process.pid}v${this.count}`;
    await command('ip', 'netns', 'add', namespace);
    await command('ip', 'link', 'add', link, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', namespace);
    await command('ip', 'link', 'set', link, 'master', this.bridge, 'up');
    await command('ip', '-n', namespace, 'addr', 'add', `${address}/24`, 'dev', 'eth0');
    await command('ip', '-n', namespace, 'link', 'set', 'eth0', 'up');
    await command('ip', '-n', namespace, 'link', 'set', 'lo', 'up');
    this.names.set(address, service);
    return { namespace, address };
  }

  /** Removes a container's address from its name, and then the address. */
  async leave({ namespace, address }: { namespace: string; address: string }): Promise<void> {
    this.names.delete(address);
    await command('ip', 'netns', 'delete', namespace);
  }

  /** Removes the bridge and ends the DNS server. */
  async close(): Promise<void> {
    this.dns.close();
    await command('ip', 'link', 'delete', this.bridge);
    await rm(this.folder, { recursive: true });
  }

  private async listen(): Promise<void> {
    this.dns.on('message', (query, { address, port }) => {
      const addressesOf = (name: string) =>
        [...this.names].filter(([, service]) => service === name).map(([of]) => of);
      this.dns.send(dnsResponse(query, addressesOf), port, address);
    });
    this.dns.bind(DNS_PORT, this.gateway);
    await once(this.dns, 'listening');
  }
}
