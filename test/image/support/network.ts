import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { command } from './command.js';

/** Addresses that are reserved for tests (RFC 2544). */
const addressIn = (subnet: number, host: number) => `198.18.${subnet}.${host}`;

/** A network as a container engine makes one: a bridge, on which each container has an address and finds others by name. */
export class Network {
  private readonly names = new Map<string, string>();
  private readonly id = process.pid % 250;
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
    await network.writeHosts();
    return network;
  }

  /** From where this test comes to the containers. */
  get gateway(): string {
    return addressIn(this.id, 1);
  }

  /** To be seen at `/etc/hosts` of every container. It is written in place, so all see it change. */
  get hosts(): string {
    return path.join(this.folder, 'hosts');
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
    await this.writeHosts();
    return { namespace, address };
  }

  async leave({ namespace, address }: { namespace: string; address: string }): Promise<void> {
    this.names.delete(address);
    await this.writeHosts();
    await command('ip', 'netns', 'delete', namespace);
  }

  async close(): Promise<void> {
    await command('ip', 'link', 'delete', this.bridge);
    await rm(this.folder, { recursive: true });
  }

  private async writeHosts(): Promise<void> {
    const lines = [...this.names].map(([address, name]) => `${address} ${name}\n`);
    await writeFile(this.hosts, ['127.0.0.1 localhost\n', ...lines].join(''));
  }
}
