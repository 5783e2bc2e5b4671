import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { listContestants, PEERS } from './contestants.js';
import { WORKLOADS } from './goals.js';
import { barChart } from './picture.js';
import { BEFORE_WORKLOADS, CONNECTIONS } from './plan.js';
import { formatMarkdown, table, writeBetweenMarks } from '../dev/publishing.js';
import { caseName, EACH, REPLICAS, SHARED, STORES } from './replicas.js';
import { summarize } from './results.js';

/** Of a report in a document. */
export const MARKS = 'bench';
const PICTURES = { speed: 'performance.svg', quick: 'performance.svg', replicas: 'scaling.svg' };
const CONTESTANTS = listContestants();
const ROWS = ['service', ...Object.keys(PEERS)];
/** The cell of what was not measured. */
const NONE = '–';

/**
 * Returns what was measured as Markdown.
 *
 * @param {import('./results.js').Results} results
 */
export function report(results) {
  const { kind, date, commit, before, machine, node } = results.circumstances;
  const source = `Measured on ${date} at commit ${commit}, on one core of ${machine}, Node ${node}.`;
  if (kind === 'replicas') {
    return [
      `![Microseconds of PostgreSQL and Redis for a request, by replicas](${PICTURES.replicas}) ${source}`,
      replicasTable(results),
    ].join('\n\n');
  }
  return before === undefined
    ? [
        `![Requests a second of the mix, by connections](${PICTURES.speed})`,
        'The picture shows requests a second of the mix, the table those of each load, with the ratio of ' +
          'this service to the peer: the median of slices in turn.',
        speedTable(results),
        `${costText(results)} ${source}`,
      ].join('\n\n')
    : [`This version, and its ratio to ${before}.`, versionTable(results), source].join('\n\n');
}

/** Prints a report. Puts it between the marks of a document when one is named, and its picture beside it. */
export async function publish(results, document) {
  const text = report(results);
  process.stdout.write(await formatMarkdown(text));
  if (document !== undefined) {
    await writeBetweenMarks(document, MARKS, text);
    const { kind } = results.circumstances;
    const picture = kind === 'replicas' ? replicasPicture(results) : speedPicture(results);
    await writeFile(path.join(path.dirname(document), PICTURES[kind]), picture);
  }
}

const speedPicture = (results) =>
  barChart(
    CONNECTIONS.map((connections) => `${connections} ${connections === 1 ? 'connection' : 'connections'}`),
    ROWS.map((name) => ({
      title: CONTESTANTS[name].title,
      values: CONNECTIONS.map((connections) =>
        median(results.figures({ workload: 'mix', connections }, name, 'perSecond')),
      ),
    })),
    (value) => `${value < 9950 ? (value / 1000).toFixed(1) : Math.round(value / 1000)}k`,
  );

const replicasPicture = (results) =>
  barChart(
    REPLICAS.map((replicas) => `${replicas} ${replicas === 1 ? 'replica' : 'replicas'}`),
    Object.entries(STORES).flatMap(([store, title]) =>
      [`${EACH} each`, `${SHARED} in all`].map((load, index) => ({
        title: `${title}, ${load}`,
        values: REPLICAS.map((replicas) =>
          replicaFigure(
            results,
            caseName(store, replicas, index === 0 ? EACH * replicas : SHARED),
            'storesUs',
          ),
        ),
      })),
    ),
    round,
  );

/** Rows of contestants for each workload, and a column for each number of connections. */
const speedTable = (results) =>
  table(
    ['connections', '', ...CONNECTIONS.map((connections) => `>${connections}`)],
    Object.entries(WORKLOADS).flatMap(([workload, title]) =>
      ROWS.map((name, index) => [
        index === 0 ? title : '',
        CONTESTANTS[name].title,
        ...CONNECTIONS.map((connections) => speed(results, { workload, connections }, [name, 'service'])),
      ]),
    ),
  );

const versionTable = (results) =>
  table(
    ['connections', ...CONNECTIONS.slice(0, -1).map((connections) => `>${connections}`)],
    BEFORE_WORKLOADS.map((workload) => [
      WORKLOADS[workload] ?? 'create with an Idempotency-Key',
      ...CONNECTIONS.slice(0, -1).map((connections) =>
        speed(results, { workload, connections }, ['after', 'before'], ['after', 'before']),
      ),
    ]),
  );

/** A row for each number of replicas with equal load, and the same columns for each store. */
const replicasTable = (results) =>
  table(
    [
      'replicas × connections',
      ...Object.values(STORES).flatMap((store) => [
        `>${store}: requests a second`,
        '>p50',
        '>in a count',
        '>service',
        '>stores',
      ]),
    ],
    REPLICAS.map((replicas) => [
      `${replicas} × ${EACH}`,
      ...Object.keys(STORES).flatMap((store) =>
        replicaCells(results, caseName(store, replicas, EACH * replicas)),
      ),
    ]),
  );

function replicaCells(results, name) {
  const cell = (figure, unit, digits = 0) => {
    const value = replicaFigure(results, name, figure);
    return value === undefined ? NONE : `${value.toFixed(digits)}${unit}`;
  };
  return [
    cell('perSecond', ''),
    cell('p50Ms', ' ms', 1),
    cell('batch', '', 1),
    cell('serverUs', ' µs'),
    cell('storesUs', ' µs'),
  ];
}

const replicaFigure = (results, name, figure) =>
  median(results.figures({ workload: 'replicas' }, name, figure));

/** Returns requests a second of a case, and the ratio of this service to it; of `pair` instead if given. */
function speed(results, load, [name, reference], pair = [reference, name]) {
  const rate = median(results.figures(load, name, 'perSecond'));
  if (rate === undefined) {
    return NONE;
  }
  const ratio = pair[0] === pair[1] ? undefined : median(results.ratios(load, pair, 'perSecond'));
  return ratio === undefined ? round(rate) : `${round(rate)} (×${ratio.toFixed(2)})`;
}

function costText(results) {
  const [mb, startMs] = [
    median(results.figures({ workload: 'memory' }, 'service', 'mb')),
    median(results.figures({ workload: 'start' }, 'service', 'ms')),
  ];
  const p99 = median(results.figures({ workload: 'latency' }, 'service', 'p99Ms'))?.toFixed(1) ?? NONE;
  return (
    `A process takes ${mb === undefined ? NONE : round(mb)} MB after load, and responds ` +
    `${startMs === undefined ? NONE : round(startMs)} ms after its start. ` +
    'At half of its greatest load the slowest of 100 ' +
    `first pages takes ${p99} ms.`
  );
}

const median = (numbers) => summarize(numbers)?.median;
const round = (number) => Math.round(number).toLocaleString('en');
