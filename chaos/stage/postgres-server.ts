import { DebianPostgres } from '../../test/support/programs/debian-postgres.js';
import type { Guard } from './guard.js';
import type { DatabaseServer } from './server.js';

const NAME = 'postgres';

/** PostgreSQL with the service's database. */
export class PostgresServer implements DatabaseServer {
  readonly name = NAME;

  private constructor(
    private readonly server: DebianPostgres,
    private readonly guard: Guard,
  ) {}

  static async create(guard: Guard): Promise<PostgresServer> {
    // What a crash of its processes leaves in the cache of the kernel is not lost, so `fsync` is not tried
    // here.
    const server = await DebianPostgres.create('max_connections = 200', 'shared_buffers = 256MB');
    guard.removeAtEnd(server.folder);
    const created = new PostgresServer(server, guard);
    await created.start();
    return created;
  }

  url(database: string): string {
    return this.server.url(database);
  }

  async start(): Promise<void> {
    await this.server.start();
    this.guard.watch(NAME, await this.server.postmaster());
  }

  async kill(): Promise<void> {
    this.guard.forget(NAME);
    await this.server.kill();
  }

  freeze(): Promise<void> {
    return this.server.freeze();
  }

  async goOn(): Promise<void> {
    this.server.goOn();
  }

  async close(): Promise<void> {
    this.guard.forget(NAME);
    await this.server.remove();
  }
}
