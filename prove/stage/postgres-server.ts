import pg from 'pg';
import { DebianPostgres } from '../../test/support/database/debian-postgres.js';
import { run } from '../../test/support/service/service-process.js';
import type { Guard } from './guard.js';
import type { Server } from './server.js';

const NAME = 'postgres';
const DATABASE = 'animal_store';

/** PostgreSQL with the service's database. */
export class PostgresServer implements Server {
  readonly name = NAME;

  private constructor(
    private readonly server: DebianPostgres,
    private readonly guard: Guard,
  ) {}

  static async create(guard: Guard): Promise<PostgresServer> {
    // What a crash of its processes leaves in the cache of the kernel is not lost, so `fsync` is not tried here.
    const server = await DebianPostgres.create('max_connections = 200', 'shared_buffers = 256MB');
    guard.removeAtEnd(server.folder);
    const created = new PostgresServer(server, guard);
    await created.start();
    return created;
  }

  /** The address of the database. */
  get url(): string {
    return this.server.url(DATABASE);
  }

  /**
   * Creates the database, its tables, its plans and the first administrator.
   *
   * @returns the administrator's key.
   */
  async seed(settings: Record<string, string>): Promise<string> {
    const client = new pg.Client(this.server.url());
    await client.connect();
    await client.query(`CREATE DATABASE ${DATABASE}`);
    await client.end();
    await runCommand({ ...settings, DATABASE_URL: this.url }, 'migrate');
    const output = await runCommand({ ...settings, DATABASE_URL: this.url }, 'seed');
    const [key] = /ask_\w+/.exec(output) ?? [];
    if (key === undefined) {
      throw new Error(`The seed printed no key of an administrator:\n${output}`);
    }
    return key;
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

async function runCommand(settings: Record<string, string>, command: string): Promise<string> {
  const { code, stdout, stderr } = await run('cli/admin.js', settings, command);
  if (code !== 0) {
    throw new Error(`animal-store ${command} failed:\n${stdout}${stderr}`);
  }
  return stdout;
}
