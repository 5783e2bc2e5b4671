import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { ComposeFile, Service } from './compose-file.js';
import { Container, type Ended } from './container.js';
import type { Image } from './image.js';
import { Network } from './network.js';
import { postgresContainer } from './postgres.js';

const PROJECT = path.join(__dirname, '..', '..', '..');
const PATIENCE_MS = 60_000;
const NODE_USER = 1000;

/** Programs of Debian in place of those of the official images, with the same arguments. */
const CADDY = ['caddy', 'run', '--config', '/etc/caddy/Caddyfile', '--adapter', 'caddyfile'];
const VALKEY_PROGRAMS: Record<string, string> = {
  'valkey-server': 'redis-server',
  'valkey-cli': 'redis-cli',
};

/**
 * Runs a Compose file as `docker compose up` would, as far as that can be done without an engine: the services in the order of
 * their dependencies, with the file's commands, environment, health checks, configs and secrets, each on an address of
 * its own. Those that are built run from the image; the others by programs of this machine that stand in for theirs. Networks,
 * volumes and limits are not the file's.
 */
export class ComposeProject {
  private readonly containers = new Map<string, Container[]>();
  private ending: Promise<Record<string, Ended[]>> | null = null;

  private constructor(
    private readonly file: ComposeFile,
    private readonly image: Image,
    private readonly network: Network,
    private readonly folder: string,
    private readonly profiles: string[],
  ) {}

  static async create(file: ComposeFile, image: Image, profiles: string[] = []): Promise<ComposeProject> {
    const folder = await mkdtemp(path.join(tmpdir(), 'animal-store-compose-'));
    return new ComposeProject(file, image, await Network.open(), folder, profiles);
  }

  /** Starts what does not run yet, and waits as the file says. Where that fails, nothing goes on running. */
  async up(): Promise<void> {
    try {
      await this.startAll();
    } catch (error) {
      await this.down();
      throw error;
    }
  }

  private async startAll(): Promise<void> {
    for (const name of this.inOrder()) {
      const service = this.service(name);
      await this.waitForDependencies(service);
      await this.scale(name, service.deploy?.replicas ?? 1);
    }
    for (const [name, { healthcheck }] of Object.entries(this.file.services)) {
      if (healthcheck !== undefined && this.containers.has(name)) {
        await this.healthy(name);
      }
    }
  }

  /** Starts containers of a service, or ends the latest, until there are so many. */
  async scale(name: string, count: number): Promise<void> {
    const running = this.of(name).filter(({ isRunning }) => isRunning);
    this.containers.set(name, running);
    while (running.length < count) {
      running.push(await this.start(name));
    }
    const surplus = running.splice(count);
    await Promise.all(surplus.map((container) => container.stop()));
  }

  of(name: string): Container[] {
    return this.containers.get(name) ?? [];
  }

  /** Where the only container of a service is found. */
  address(name: string): string {
    const [container] = this.of(name);
    if (container === undefined) {
      throw new Error(`${name} does not run`);
    }
    return container.address;
  }

  /** From where this test comes. */
  get client(): string {
    return this.network.gateway;
  }

  /** Stops the services in the reverse order, as `docker compose down` does, and returns how each container ended. */
  down(): Promise<Record<string, Ended[]>> {
    this.ending ??= this.stopAll();
    return this.ending;
  }

  private async stopAll(): Promise<Record<string, Ended[]>> {
    const ends: Record<string, Ended[]> = {};
    for (const name of this.inOrder().toReversed()) {
      ends[name] = await Promise.all(this.of(name).map((container) => container.stop()));
    }
    await this.network.close();
    await rm(this.folder, { recursive: true });
    return ends;
  }

  /** All their health checks, until none fails. */
  async healthy(name: string): Promise<void> {
    const test = this.service(name).healthcheck?.test ?? [];
    const [kind, ...check] = test.map((word) => VALKEY_PROGRAMS[word] ?? word);
    if (kind !== 'CMD') {
      throw new Error(`The health check of ${name} is not of the form that is run here`);
    }
    for (const container of this.of(name)) {
      const deadline = performance.now() + PATIENCE_MS;
      for (;;) {
        const { code, stdout, stderr } = await container.exec(...check);
        if (code === 0) {
          break;
        }
        if (performance.now() > deadline || !container.isRunning) {
          throw new Error(`${name} is not healthy: ${stdout}${stderr}\n${container.said}`);
        }
        await pause(100);
      }
    }
  }

  private service(name: string): Service {
    const service = this.file.services[name];
    if (service === undefined) {
      throw new Error(`There is no service ${name}`);
    }
    return service;
  }

  private isActive(name: string): boolean {
    const { profiles } = this.service(name);
    return profiles === undefined || profiles.some((profile) => this.profiles.includes(profile));
  }

  private inOrder(): string[] {
    const order: string[] = [];
    const visit = (name: string) => {
      if (this.isActive(name) && !order.includes(name)) {
        Object.keys(this.service(name).depends_on ?? {}).forEach(visit);
        order.push(name);
      }
    };
    Object.keys(this.file.services).forEach(visit);
    return order;
  }

  private async waitForDependencies({ depends_on = {} }: Service): Promise<void> {
    for (const [name, { condition, required = true }] of Object.entries(depends_on)) {
      if (!this.isActive(name)) {
        if (required) {
          throw new Error(`${name} is needed, and its profile is not on`);
        }
      } else if (condition === 'service_healthy') {
        await this.healthy(name);
      } else if (condition === 'service_completed_successfully') {
        for (const { code, stdout, stderr } of await Promise.all(this.of(name).map(({ ended }) => ended))) {
          if (code !== 0) {
            throw new Error(`${name} ended with ${code}: ${stdout}${stderr}`);
          }
        }
      }
    }
  }

  private async start(name: string): Promise<Container> {
    const service = this.service(name);
    const { environment = {} } = service;
    const env = environment as Record<string, string>;
    const files = this.filesOf(service);
    if (service.build !== undefined) {
      const { root, config } = this.image;
      return Container.start({
        network: this.network,
        service: name,
        root,
        command: [...config.entrypoint, ...(service.command ?? config.command)],
        workingDir: config.workingDir,
        env: { ...config.env, ...env },
        user: NODE_USER,
        writable: service.read_only !== true,
        ...(service.tmpfs && { tmpfs: service.tmpfs }),
        files,
      });
    }
    // A folder of this machine is in the place of each volume.
    const data = await mkdtemp(path.join(this.folder, `${name}-`));
    if (service.image.startsWith('postgres:')) {
      return postgresContainer(this.network, name, service, { env, files, data });
    }
    const command = service.image.startsWith('caddy:')
      ? CADDY
      : (service.command ?? []).map((word) => VALKEY_PROGRAMS[word] ?? word);
    return Container.start({
      network: this.network,
      service: name,
      root: '/',
      command,
      env: { HOME: '/mnt', ...env },
      workingDir: '/mnt/data',
      tmpfs: ['/mnt', '/etc/caddy'],
      folders: { '/mnt/data': data },
      files,
    });
  }

  private filesOf({ configs = [], secrets = [] }: Service): Record<string, string> {
    const { configs: knownConfigs = {}, secrets: knownSecrets = {} } = this.file;
    const outside = (entry: { file: string } | undefined) => path.resolve(PROJECT, entry?.file ?? '');
    return Object.fromEntries([
      ...configs.map(({ source, target }) => [target, outside(knownConfigs[source])]),
      ...secrets.map((name) => [`/run/secrets/${name}`, outside(knownSecrets[name])]),
    ]);
  }
}
