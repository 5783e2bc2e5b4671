import { tracingChannel } from 'node:diagnostics_channel';
import type pg from 'pg';

/** Tells who listens of every query of the pools that say so, from the wait for a connection to the answer. */
export const QUERIES = 'animal-store.query';

/** What is told of a query. Its values are told to nobody. */
export interface QueryNotice {
  text: string;
}

type Query = (...args: unknown[]) => unknown;

const queries = tracingChannel<unknown, QueryNotice>(QUERIES);

/** Has this pool tell of its queries, those within transactions too. */
export function tellQueries(pool: pg.Pool): void {
  tellOf(pool);
  pool.on('connect', tellOf);
}

function tellOf(target: pg.Pool | pg.PoolClient): void {
  const query: Query = (...args) =>
    (Object.getPrototypeOf(target) as { query: Query }).query.apply(target, args);
  const told: Query = (...args) => {
    // A pool asks its clients with a callback, and has told of that itself.
    if (!queries.hasSubscribers || typeof args.at(-1) === 'function') {
      return query(...args);
    }
    const [first] = args as [string | { text: string }];
    const text = typeof first === 'string' ? first : first.text;
    return queries.tracePromise(() => query(...args) as Promise<unknown>, { text });
  };
  target.query = told as typeof target.query;
}
