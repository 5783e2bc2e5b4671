import { median } from '../statistics.js';

/**
 * Measures each of some cases in every round, and tells the medians.
 *
 * @param {number} rounds
 * @param {Item[]} cases
 * @param {(one: Item) => Promise<{ perSecond: number, serverUs: number | null, postgresUs: number | null }>} measureOne
 * @returns {Promise<string[][]>} for each case: requests per second, and CPU microseconds of service and PostgreSQL.
 * @template Item
 */
export async function mediansOf(rounds, cases, measureOne) {
  const seen = cases.map(() => []);
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, one] of cases.entries()) {
      seen[index].push(await measureOne(one));
    }
  }
  return seen.map((all) => [
    Math.round(median(all.map(({ perSecond }) => perSecond))).toLocaleString('en'),
    ...['serverUs', 'postgresUs'].map((what) =>
      all[0][what] === null ? '–' : median(all.map((one) => one[what])).toFixed(0),
    ),
  ]);
}

export const MEASURED = ['>requests/s', '>service µs', '>PostgreSQL µs'];
