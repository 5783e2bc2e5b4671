import { tracingChannel } from 'node:diagnostics_channel';
import type pg from 'pg';

/** The diagnostics channel of a pool's queries, each from the wait for a connection to its result. */
export const QUERIES = 'animal-store.query';

/** What the channel publishes of a query: never its values. */
export interface QueryNotice {
  text: string;
}

type Query = (...args: unknown[]) => unknown;

const queries = tracingChannel<unknown, QueryNotice>(QUERIES);

/** Publishes the queries of this pool, those in transactions too. */
export function publishQueries(pool: pg.Pool): void {
  publishFrom(pool);
  pool.on('connect', publishFrom);
}

function publishFrom(target: pg.Pool | pg.PoolClient): void {
  const query: Query = (...args) =>
    (Object.getPrototypeOf(target) as { query: Query }).query.apply(target, args);
  const published: Query = (...args) => {
    // A pool queries its clients with a callback, and has published that query itself.
    if (!queries.hasSubscribers || typeof args.at(-1) === 'function') {
      return query(...args);
    }
    const [first] = args as [string | { text: string }];
    const text = typeof first === 'string' ? first : first.text;
    return queries.tracePromise(() => query(...args) as Promise<unknown>, { text });
  };
  target.query = published as typeof target.query;
}
