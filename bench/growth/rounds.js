import { median } from '../statistics.js';

/**
 * Measures each of some cases in every round.
 *
 * @template Item
 * @param {number} rounds
 * @param {Item[]} cases
 * @template {{ perSecond: number, serverUs?: number | null, postgresUs?: number | null }} Seen
 * @param {(one: Item) => Promise<Seen>} measureOne
 * @returns {Promise<Seen[][]>} what was seen of each case, round by round.
 */
export async function inRounds(rounds, cases, measureOne) {
  /** @type {Seen[][]} */
  const seen = cases.map(() => []);
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, one] of cases.entries()) {
      seen[index].push(await measureOne(one));
    }
  }
  return seen;
}

/** What was seen of each case, by a name for it. */
export const byName = (names, seen) => Object.fromEntries(names.map((name, index) => [name, seen[index]]));

export const speedsOf = (seen) => seen.map(({ perSecond }) => perSecond);

/** The median of requests per second, for a table. */
export const speedCell = (seen) => Math.round(median(speedsOf(seen))).toLocaleString('en');

/** The same, and what a request cost of the service and of PostgreSQL. */
export const cellsOf = (seen) => [
  speedCell(seen),
  ...['serverUs', 'postgresUs'].map((what) =>
    seen[0][what] === null ? '–' : median(seen.map((one) => one[what])).toFixed(0),
  ),
];

export const COLUMNS = ['>requests/s', '>service µs', '>PostgreSQL µs'];
