import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import { ENVIRONMENT, type Environment } from '../environment.js';
import { PrismaClient } from './generated/client.js';

const CONNECT_TIMEOUT_MS = 2000;
const STATEMENT_TIMEOUT_MS = 5000;
const QUERY_TIMEOUT_MS = 6000;
const IDLE_TIMEOUT_MS = 30_000;

/** The database of keys, animals and orders. */
@Injectable()
export class PrismaService extends PrismaClient implements OnApplicationShutdown {
  /** The connections, which Prisma shares with `Statements`. */
  readonly pool: pg.Pool;

  constructor(@Inject(ENVIRONMENT) environment: Pick<Environment, 'DATABASE_URL' | 'DATABASE_POOL_SIZE'>) {
    const pool = new pg.Pool({
      connectionString: environment.DATABASE_URL,
      application_name: 'animal-store',
      max: environment.DATABASE_POOL_SIZE,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      statement_timeout: STATEMENT_TIMEOUT_MS,
      query_timeout: QUERY_TIMEOUT_MS,
      idleTimeoutMillis: IDLE_TIMEOUT_MS,
      // What a request asks that the end of the service has cut off is not waited for.
      allowExitOnIdle: true,
    });
    // An idle connection that breaks is replaced by the next question, which tells what is wrong if that fails too.
    pool.on('error', () => {});
    super({ adapter: new PrismaPg(pool, { disposeExternalPool: true }) });
    this.pool = pool;
  }

  async onApplicationShutdown(): Promise<void> {
    await this.$disconnect();
    // Prisma has ended it if it ever used it.
    if (!this.pool.ending) {
      await this.pool.end();
    }
  }
}
