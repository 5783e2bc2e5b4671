import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Injectable, Logger } from '@nestjs/common';
import pg from 'pg';
import { isConflict } from './availability.js';
import { PrismaService } from './prisma.service.js';

/** A statement written by hand, under a name of its own. */
export interface Statement {
  name: string;
  text: string;
  /** Its name in a session of PostgreSQL. */
  preparedName: string;
}

/**
 * A statement of this text. Its prepared name carries a hash of the text: behind a pooler two releases share sessions, and each must
 * run its own text.
 *
 * @param name at most 50 bytes: with the hash PostgreSQL keeps 63.
 */
export function namedStatement(name: string, text: string): Statement {
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 12);
  return { name, text, preparedName: `${name}-${hash}` };
}

/**
 * The statement of the file `NAME.sql`.
 *
 * @param module the URL of the module beside which the file lies.
 */
export function loadSql(module: string, name: string): Statement {
  return namedStatement(name, readFileSync(new URL(`./${name}.sql`, module), 'utf8'));
}

/** SQLSTATEs of a prepared statement that is not there, or there already (PostgreSQL, Appendix A). */
const PREPARED_ELSEWHERE = /^(26000|42P05)$/;
/** Of one whose columns the schema has changed since. Its connection is not used again. */
const PREPARED_BEFORE = '0A000';

/** A request's transaction that conflicts with others is retried for this long. */
const RETRY_CONFLICTS_MS = 1000;

/**
 * Runs the statements of the busiest operations, on connections apart from Prisma's. PostgreSQL parses and plans each once for
 * a connection, by its prepared name.
 */
@Injectable()
export class QueryRunner {
  private readonly logger = new Logger(QueryRunner.name);
  private readonly pool: pg.Pool;
  /**
   * The batches of one operation that may be in flight: two, so that a slow one delays only its own items; one if the two of four
   * operations would leave no connection to keys and usage.
   */
  readonly maxInFlight: number;
  private arePrepared = true;

  constructor({ queryPool }: PrismaService) {
    this.pool = queryPool;
    this.maxInFlight = queryPool.options.max > 2 * 4 ? 2 : 1;
  }

  /**
   * @param timeoutMs when to give up a statement that is under way, if sooner than others.
   * @throws the error of `pg`.
   */
  run<Row extends unknown[]>(statement: Statement, values: unknown[], timeoutMs?: number): Promise<Row[]> {
    return retryConflicts(() => this.runOnce<Row>(statement, values, timeoutMs));
  }

  private async runOnce<Row extends unknown[]>(
    { text, preparedName }: Statement,
    values: unknown[],
    timeoutMs: number | undefined,
  ): Promise<Row[]> {
    const timeout = timeoutMs === undefined ? {} : { query_timeout: timeoutMs };
    const query = { text, values, rowMode: 'array', ...timeout } as const;
    if (this.arePrepared) {
      try {
        return (await this.pool.query<Row>({ ...query, name: preparedName })).rows;
      } catch (error) {
        if (!this.isOfPreparing(error)) {
          throw error;
        }
        // Nothing was carried out.
      }
    }
    return (await this.pool.query<Row>(query)).rows;
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

/**
 * Runs work that is one transaction, again after every conflict with another one.
 *
 * @param endMs the time after which a conflict is not followed by another try, by the monotonic clock.
 * @throws the error of the last try.
 */
export async function retryConflicts<Result>(
  work: () => Promise<Result>,
  endMs = performance.now() + RETRY_CONFLICTS_MS,
): Promise<Result> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isConflict(error) || performance.now() >= endMs) {
        throw error;
      }
    }
  }
}
