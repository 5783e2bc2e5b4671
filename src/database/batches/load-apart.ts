import { UnavailableError } from '../access/unavailable-error.js';
import { isRejectedValue } from '../access/availability.js';

/**
 * The maximum time for what follows a rejected load; a load in flight by then still ends. A request has six
 * seconds, even behind another such batch.
 */
const MAX_MS = 2500;

/**
 * How to load items. `load` changes nothing when it rejects because of a value; `settle` and `fail` get each
 * item once.
 */
interface Loading<Item, Results> {
  load: (items: Item[]) => Promise<Results>;
  settle: (items: Item[], results: Results) => void;
  fail: (items: Item[], error: unknown) => void;
}

/**
 * Loads items together. When that fails because of a value, it loads each half by itself, and so on, so that
 * in the end only the bad items fail. Few bad items cost few loads, and the first results are there before
 * the last.
 *
 * @throws the error of a load that failed for another reason, after the items that were left have failed with
 *   it.
 */
export async function loadApart<Item, Results>(
  items: Item[],
  { load, settle, fail }: Loading<Item, Results>,
): Promise<void> {
  let endMs = Infinity;
  const parts = [items];
  for (let part = parts.pop(); part !== undefined; part = parts.pop()) {
    try {
      settle(part, await load(part));
    } catch (error) {
      if (!isRejectedValue(error)) {
        [part, ...parts].forEach((left) => fail(left, error));
        throw error;
      }
      const middle = Math.ceil(part.length / 2);
      if (part.length === 1) {
        fail(part, error);
      } else {
        parts.push(part.slice(middle), part.slice(0, middle));
      }
      endMs = Math.min(endMs, performance.now() + MAX_MS);
    }
    if (performance.now() > endMs) {
      const message = `Values of other requests were rejected for ${MAX_MS} ms`;
      const error = new UnavailableError('The database', 'tooManyRejected', message);
      parts.splice(0).forEach((left) => fail(left, error));
    }
  }
}
