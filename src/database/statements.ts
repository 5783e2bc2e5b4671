import { readFileSync } from 'node:fs';
import { Inject, Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import pg from 'pg';
import { ENVIRONMENT } from '../environment.js';
import { createPool, type PoolSettings, poolSizes, type PoolState, stateOf } from './connection-pool.js';

/** A statement written by hand, under a name of its own. */
export interface Statement {
  name: string;
  text: string;
}

/**
 * The statement of the file `NAME.sql`.
 *
 * @param module the URL of the module beside which the file lies.
 */
export function statementBeside(module: string, name: string): Statement {
  return { name, text: readFileSync(new URL(`./${name}.sql`, module), 'utf8') };
}

/** SQLSTATEs of a prepared statement that is not there, or there already (PostgreSQL, Appendix A). */
const PREPARED_ELSEWHERE = /^(26000|42P05)$/;
/** Of one whose columns the schema has changed since. Its connection is not used again. */
const PREPARED_BEFORE = '0A000';

/**
 * Runs the statements of the busiest operations, on connections of their own. PostgreSQL parses and plans each once for a
 * connection, by its name.
 */
@Injectable()
export class Statements implements OnApplicationShutdown {
  private readonly logger = new Logger(Statements.name);
  private readonly pool: pg.Pool;
  private arePrepared = true;

  constructor(@Inject(ENVIRONMENT) environment: PoolSettings) {
    this.pool = createPool(environment, poolSizes(environment.DATABASE_POOL_SIZE).statements);
  }

  get poolState(): PoolState {
    return stateOf(this.pool);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.pool.end();
  }

  /**
   * @param timeoutMs when to give up a statement that is under way, if sooner than others.
   * @throws the error of `pg`.
   */
  async run<Row extends unknown[]>(
    { name, text }: Statement,
    values: unknown[],
    timeoutMs?: number,
  ): Promise<Row[]> {
    const timeout = timeoutMs === undefined ? {} : { query_timeout: timeoutMs };
    const statement = { text, values, rowMode: 'array', ...timeout } as const;
    if (this.arePrepared) {
      try {
        return (await this.pool.query<Row>({ ...statement, name })).rows;
      } catch (error) {
        if (!this.isOfPreparing(error)) {
          throw error;
        }
        // Nothing was carried out.
      }
    }
    return (await this.pool.query<Row>(statement)).rows;
  }

  /** Whether the statement itself may well succeed. */
  private isOfPreparing(error: unknown): boolean {
    const code = error instanceof pg.DatabaseError ? String(error.code) : '';
    const isPooled = PREPARED_ELSEWHERE.test(code);
    if (isPooled && this.arePrepared) {
      this.arePrepared = false;
      this.logger.warn('A pooler that knows no prepared statements is in the way, so each is planned anew');
    }
    return isPooled || code === PREPARED_BEFORE;
  }
}
