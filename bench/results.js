import { appendFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const DIR = path.join(import.meta.dirname, 'results');

/**
 * What was measured so far: records `{ workload, connections, set, round, case, …figures }`, a line of JSON
 * each.
 */
export class Results {
  records = [];

  /**
   * @param {object} circumstances what figures depend on.
   * @param {string} file to which records are appended.
   */
  constructor(circumstances, file) {
    this.circumstances = circumstances;
    this.file = file;
  }

  /** Returns the latest results of a kind, commit and Node, if there are any. */
  static latest(circumstances) {
    mkdirSync(DIR, { recursive: true });
    const prefix = filePrefix(circumstances);
    const name = readdirSync(DIR)
      .filter((each) => each.startsWith(prefix))
      .toSorted()
      .at(-1);
    if (name === undefined) {
      return undefined;
    }
    const file = path.join(DIR, name);
    const [first, ...records] = readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    return Object.assign(new Results(first, file), { records });
  }

  /** Starts a file. */
  static create(circumstances) {
    mkdirSync(DIR, { recursive: true });
    const instant = new Date().toISOString().replace(/\..*/, '').replaceAll(':', '-');
    const file = path.join(DIR, `${filePrefix(circumstances)}${instant}.jsonl`);
    writeFileSync(file, `${JSON.stringify(circumstances)}\n`);
    return new Results(circumstances, file);
  }

  add(records) {
    this.records.push(...records);
    appendFileSync(this.file, records.map((record) => `${JSON.stringify(record)}\n`).join(''));
  }

  /** Returns one figure of a case in every round. */
  figures(load, name, figure) {
    return this.#of(load, name).map((record) => record[figure]);
  }

  /** Returns the ratios of a figure of two cases, each within one round of one set. */
  ratios(load, [one, other], figure) {
    const others = new Map(this.#of(load, other).map((record) => [roundKey(record), record]));
    return this.#of(load, one)
      .filter((record) => others.has(roundKey(record)))
      .map((record) => record[figure] / others.get(roundKey(record))[figure]);
  }

  #of(load, name) {
    return this.records.filter(
      (record) =>
        record.case === name && Object.entries(load).every(([field, value]) => record[field] === value),
    );
  }
}

const filePrefix = ({ kind, commit, before, node }) =>
  [kind, commit, before, node.split('.')[0], ''].filter((part) => part !== undefined).join('-');

const roundKey = ({ workload, connections, set, round }) => `${workload} ${connections} ${set} ${round}`;

/** Returns median and quartiles, or null of nothing. */
export function summarize(numbers) {
  if (numbers.length === 0) {
    return null;
  }
  const sorted = numbers.toSorted((a, b) => a - b);
  const quantile = (share) => {
    const at = (sorted.length - 1) * share;
    const below = sorted[Math.floor(at)];
    return below + (sorted[Math.ceil(at)] - below) * (at % 1);
  };
  return { low: quantile(0.25), median: quantile(0.5), high: quantile(0.75), count: sorted.length };
}
