import { query } from '../../test/support/database/database.js';
import { until } from '../../test/support/eventually.js';
import { DebianPostgres } from '../../test/support/programs/debian-postgres.js';
import { monotonicMs } from '../ledger.js';
import type { Guard } from './guard.js';
import { type DatabaseServer, READY_DEADLINE_MS } from './server.js';

const NAME = 'postgres';
/** The time within which a replica must have a reply, or the server is unavailable to it (docs/limits.md). */
const REPLY_DEADLINE_MS = 750;

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

  /** Connections that were opened and given up meanwhile come first: on a busy machine, for seconds. */
  async goOn(): Promise<void> {
    this.server.goOn();
    await until(async () => {
      const sentMs = monotonicMs();
      await query(this.url('postgres'), 'SELECT 1');
      return monotonicMs() - sentMs < REPLY_DEADLINE_MS;
    }, READY_DEADLINE_MS);
  }

  async close(): Promise<void> {
    this.guard.forget(NAME);
    await this.server.remove();
  }
}
