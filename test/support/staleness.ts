import { type Answer, send } from './http.js';

const PATIENCE_MS = 10_000;

/**
 * Asks without a pause until the answer is another, and tells for how many milliseconds from now requests were still
 * answered as before: up to the moment when the last of them was sent, so that a slow machine does not count.
 */
export async function staleness(url: string, key: string, isAsBefore: (answer: Answer) => boolean) {
  const start = performance.now();
  let lastMs = 0;
  for (;;) {
    const askedMs = performance.now() - start;
    const answer = await send(`${url}/v1/pets`, { key });
    if (!isAsBefore(answer)) {
      return { staleMs: lastMs, answer };
    }
    if (askedMs > PATIENCE_MS) {
      throw new Error(`The change did not hold after ${PATIENCE_MS} ms`);
    }
    lastMs = askedMs;
  }
}
