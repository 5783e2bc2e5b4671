import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { PrismaPg } from '@prisma/adapter-pg';
import { ENVIRONMENT, type Environment } from '../environment.js';
import { PrismaClient } from './generated/client.js';

const CONNECT_TIMEOUT_MS = 2000;
const STATEMENT_TIMEOUT_MS = 5000;
const QUERY_TIMEOUT_MS = 6000;
const IDLE_TIMEOUT_MS = 30_000;

/** The database of keys, animals and orders. */
@Injectable()
export class PrismaService extends PrismaClient implements OnApplicationShutdown {
  constructor(@Inject(ENVIRONMENT) environment: Pick<Environment, 'DATABASE_URL' | 'DATABASE_POOL_SIZE'>) {
    super({
      adapter: new PrismaPg({
        connectionString: environment.DATABASE_URL,
        application_name: 'animal-store',
        max: environment.DATABASE_POOL_SIZE,
        connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
        statement_timeout: STATEMENT_TIMEOUT_MS,
        query_timeout: QUERY_TIMEOUT_MS,
        idleTimeoutMillis: IDLE_TIMEOUT_MS,
        // What a request asks that the end of the service has cut off opens a pool anew; it is not waited for.
        allowExitOnIdle: true,
      }),
    });
  }

  async onApplicationShutdown(): Promise<void> {
    await this.$disconnect();
  }
}
