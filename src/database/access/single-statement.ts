import { Logger } from '@nestjs/common';
import type pg from 'pg';
import { hasCode, isRejectedValue } from './availability.js';
import { retryConflicts } from './retry-conflicts.js';

/** SQLSTATEs of a prepared statement that is missing, or already exists (PostgreSQL, Appendix A). */
const PREPARED_ELSEWHERE = /^(26000|42P05)$/;
/** The SQLSTATE of a statement whose columns a migration has changed. Its connection is not used again. */
const PREPARED_BEFORE = /^0A000$/;

const logger = new Logger('Database');

type Query = pg.QueryConfig | string;

/**
 * Returns the method `query` of a pool: it runs a statement that is a transaction of its own. That is
 * repeated after a conflict, and if only its preparation failed; a transaction of several statements could
 * not be.
 */
export function singleStatements(
  pool: pg.Pool,
): (query: Query, values?: unknown[]) => Promise<pg.QueryResult> {
  let arePrepared = true;
  const run = async (named: pg.QueryConfig) => {
    const { name, ...unnamed } = named;
    if (!name || !arePrepared) {
      return runOnce(pool, unnamed);
    }
    try {
      return await runOnce(pool, named);
    } catch (error) {
      if (hasCode(error, PREPARED_ELSEWHERE)) {
        if (arePrepared) {
          arePrepared = false;
          logger.warn('A pooler without prepared statements is in the way, so each is planned anew');
        }
      } else if (!hasCode(error, PREPARED_BEFORE)) {
        throw error;
      }
      return runOnce(pool, unnamed);
    }
  };
  return (query, values = []) =>
    retryConflicts(() => run(typeof query === 'string' ? { text: query, values } : query));
}

/**
 * Runs a query by callbacks: what the driver keeps of one by promise burdens the garbage collector. The
 * pool's own method would end the connection after every error.
 */
function runOnce(pool: pg.Pool, query: pg.QueryConfig): Promise<pg.QueryResult> {
  return new Promise((resolve, reject) => {
    pool.connect((failure, client, release) => {
      if (client === undefined) {
        reject(failure);
        return;
      }
      client.query(query, (error: Error | null, result) => {
        if (error === null) {
          release();
          resolve(result);
        } else if (isRejectedValue(error) && !hasCode(error, PREPARED_BEFORE)) {
          // PostgreSQL reports the error before it releases the locks that another try may need. It replies
          // to an empty query once they are released.
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
