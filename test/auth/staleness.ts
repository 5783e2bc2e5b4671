import { type HttpResponse, send } from '../support/http/http.js';

const PATIENCE_MS = 10_000;

/**
 * Sends requests without a pause until the response changes. Returns that response, and for how many
 * milliseconds requests got the old one: until the last of them was sent, so that a slow response does not
 * count.
 */
export async function staleness(url: string, key: string, isAsBefore: (response: HttpResponse) => boolean) {
  const start = performance.now();
  let lastMs = 0;
  for (;;) {
    const sentMs = performance.now() - start;
    const response = await send(`${url}/v1/pets`, { key });
    if (!isAsBefore(response)) {
      return { staleMs: lastMs, response };
    }
    if (sentMs > PATIENCE_MS) {
      throw new Error(`The change did not hold after ${PATIENCE_MS} ms`);
    }
    lastMs = sentMs;
  }
}
