import type { HttpResponse } from './http.js';

type Headers = Pick<HttpResponse, 'headers'>;

/** Returns how many requests remain in the window with the fewest. */
export const remaining = ({ headers }: Headers) => Number(headers.get('x-ratelimit-remaining'));

/** Returns when that window ends, in Unix seconds. */
export const resetSeconds = ({ headers }: Headers) => Number(headers.get('x-ratelimit-reset'));

/** Returns whether the replica decided by itself. */
export const isDegraded = ({ headers }: Headers) => headers.get('x-ratelimit-degraded') === 'true';

/** Returns the limit of that window, how many requests remain in it, and when it ends. */
export const limitHeaders = ({ headers }: Headers) =>
  ['limit', 'remaining', 'reset'].map((name) => Number(headers.get(`x-ratelimit-${name}`)));
