import type pg from 'pg';
import type { DebianPostgres } from '../support/programs/debian-postgres.js';
import { issueKey, UNLIMITED } from '../support/keys/keys.js';
import { prisma } from '../support/database/prisma-cli.js';
import { query } from '../support/database/database.js';
import { run, type ServiceProcess } from '../support/service/service-process.js';
import { ServiceProcesses } from '../support/service/service-processes.js';

/** The role of the service, and the name of its database. */
export const OPERATED_ROLE = 'animal_store';

/** A server of PostgreSQL, or several as one. */
type OperatedServer = Pick<DebianPostgres, 'url' | 'remove'>;

/** The built service on a PostgreSQL of Debian, both run as an operator does. */
export class OperatedService {
  private readonly replicas = new ServiceProcesses(() => ({
    ...settings(this.databaseUrl),
    LOG_LEVEL: 'warn',
  }));

  private constructor(
    private readonly server: OperatedServer,
    /** Its limits are higher than any test needs. */
    readonly key: string,
  ) {}

  /** Prepares a database on a server that runs. No replica is started yet. */
  static async on(server: OperatedServer): Promise<OperatedService> {
    await query(server.url(), `CREATE ROLE ${OPERATED_ROLE} LOGIN`);
    await query(server.url(), `CREATE DATABASE ${OPERATED_ROLE} OWNER ${OPERATED_ROLE}`);
    const url = server.url(OPERATED_ROLE, OPERATED_ROLE);
    expect(await prisma(url, ['migrate', 'deploy'])).toMatchObject({ code: 0 });
    expect(await run('cli/admin.js', settings(url), 'seed')).toMatchObject({ code: 0 });
    const { key } = await issueKey({ url }, UNLIMITED);
    return new OperatedService(server, key);
  }

  /** The database's address, for the service. */
  get databaseUrl(): string {
    return this.server.url(OPERATED_ROLE, OPERATED_ROLE);
  }

  /** Runs one statement in the database, as its administrator. */
  query<Row extends pg.QueryResultRow>(text: string): Promise<Row[]> {
    return query<Row>(this.server.url(OPERATED_ROLE), text);
  }

  /** Starts a replica, and waits until it listens. */
  async start(): Promise<{ url: string; process: ServiceProcess }> {
    const started = this.replicas.start();
    return { url: await started.listening(), process: started };
  }

  /** Starts a replica, and waits until it is ready. */
  startReady(): Promise<string> {
    return this.replicas.start().ready();
  }

  async stop(): Promise<void> {
    await this.replicas.end('SIGTERM');
    await this.server.remove();
  }
}

const settings = (DATABASE_URL: string) => ({
  NODE_ENV: 'production',
  APP_ENV: 'staging',
  HOST: '127.0.0.1',
  SHUTDOWN_DELAY: '0',
  DATABASE_URL,
});
