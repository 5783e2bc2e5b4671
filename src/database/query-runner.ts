import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Injectable, Logger } from '@nestjs/common';
import type pg from 'pg';
import { hasCode, isConflict, isRejectedValue } from './availability.js';
import { PrismaService } from './prisma.service.js';

/** A statement of SQL with a name, for metrics and traces. */
export interface Statement {
  name: string;
  text: string;
  /** Its name in a session of PostgreSQL. */
  preparedName: string;
}

/**
 * Returns a statement of this text. Its prepared name has a hash of the text, because two releases may share a pooler's sessions.
 *
 * @param name at most 50 bytes, because PostgreSQL keeps 63 with the hash.
 */
export function namedStatement(name: string, text: string): Statement {
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 12);
  return { name, text, preparedName: `${name}-${hash}` };
}

/** Returns the statement of the file `NAME.sql` beside the module of this URL. */
export function loadSql(module: string, name: string): Statement {
  return namedStatement(name, readFileSync(new URL(`./${name}.sql`, module), 'utf8'));
}

/** SQLSTATEs of a prepared statement that is missing, or already exists (PostgreSQL, Appendix A). */
const PREPARED_ELSEWHERE = /^(26000|42P05)$/;
/** The SQLSTATE of a statement whose columns a migration has changed. Its connection is not used again. */
const PREPARED_BEFORE = /^0A000$/;

const RETRY_CONFLICTS_MS = 1000;

/** Runs the statements of the busiest operations, on connections apart from Prisma's. PostgreSQL plans each once per connection. */
@Injectable()
export class QueryRunner {
  private readonly logger = new Logger(QueryRunner.name);
  private readonly pool: pg.Pool;
  /** The maximum of an operation's batches in flight: two, unless those of four operations would leave no connection to keys and usage. */
  readonly maxInFlight: number;
  private arePrepared = true;

  constructor({ pools }: PrismaService) {
    this.pool = pools.queries;
    this.maxInFlight = this.pool.options.max > 2 * 4 ? 2 : 1;
  }

  /**
   * @param timeoutMs the maximum time of the statement, if shorter than that of others.
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
        return await this.query<Row>({ ...query, name: preparedName });
      } catch (error) {
        // The statement was not executed if only its preparation failed.
        if (hasCode(error, PREPARED_ELSEWHERE)) {
          this.prepareNoMore();
        } else if (!hasCode(error, PREPARED_BEFORE)) {
          throw error;
        }
      }
    }
    return this.query<Row>(query);
  }

  /**
   * Runs a query by callbacks: what the driver keeps of one by promise burdens the garbage collector. The
   * pool's own method would end the connection after every error.
   */
  private query<Row extends unknown[]>(query: pg.QueryArrayConfig): Promise<Row[]> {
    return new Promise((resolve, reject) => {
      this.pool.connect((failure, client, release) => {
        if (client === undefined) {
          reject(failure);
          return;
        }
        client.query<Row>(query, (error: Error | null, result) => {
          if (error === null) {
            release();
            resolve(result.rows);
          } else if (isRejectedValue(error) && !hasCode(error, PREPARED_BEFORE)) {
            // PostgreSQL reports the error before it releases the locks, which another try may need; this has
            // a reply after that.
            client.query('', (lost: Error | null) => {
              release(lost ?? undefined);
              reject(error);
            });
          } else {
            release(error);
            reject(error);
          }
        });
      });
    });
  }

  private prepareNoMore(): void {
    if (this.arePrepared) {
      this.arePrepared = false;
      this.logger.warn('A pooler without prepared statements is in the way, so each is planned anew');
    }
  }
}

/**
 * Runs work that is one transaction, and retries it after conflicts.
 *
 * @param endMs the end of the retries, by the monotonic clock.
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
