import { readFile, writeFile } from 'node:fs/promises';
import { format, resolveConfig } from 'prettier';
import { listContestants, PEERS } from './contestants.js';
import { KEYS } from './data.js';
import { WORKLOADS } from './goals.js';
import { Refusal } from './interruption.js';
import { CONNECTIONS, ROUNDS } from './plan.js';
import { summarize } from './results.js';

const [BEGIN, END] = ['<!-- bench -->', '<!-- /bench -->'];
const CONTESTANTS = listContestants();
const ROWS = ['service', ...Object.keys(PEERS)];
const [USUAL_KEYS] = KEYS;
/** The cell of what was not measured. */
const NONE = '–';

/**
 * Returns all that was measured as Markdown.
 *
 * @param {import('./results.js').Results} results
 * @param {ReturnType<import('./goals.js').judgeGoals>} goals
 */
export function report(results, goals) {
  const { date, commit, before, machine, node } = results.circumstances;
  const compared = before ? `, before: ${before}` : '';
  return [
    `Measured on ${date}, commit ${commit}${compared}; ${machine}; Node ${node}. Contestants run on core 0; PostgreSQL, Redis and load on core 1.`,
    `Slices of one second in turn, ratios within each round. Cells are medians with quartiles; a number in brackets is the count of rounds where there are fewer than ${ROUNDS}.`,
    '### Goals',
    goalTable(goals),
    '### Speed',
    'Requests a second of this service; below it, service / peer.',
    ...KEYS.flatMap((keys) => {
      const isMeasured = results.records.some((record) => record.keys === keys && record.connections);
      return isMeasured ? [`#### ${keysOf(keys)}`, speedTable(results, keys)] : [];
    }),
    '### Creations and orders',
    'Requests a second over connections, and the ratio to plain creations.',
    creationTable(results),
    '### CPU',
    `Microseconds of the server + of PostgreSQL for one request, ${keysOf(USUAL_KEYS)}.`,
    cpuTable(results),
    '### Latency, memory, start',
    latencyText(results),
    otherTable(results),
    '### Two replicas',
    replicaText(results),
  ]
    .filter(Boolean)
    .join('\n\n')
    .concat('\n');
}

/** Prints a report, and puts it between the marks of a document when one is named. */
export async function publish(text, document) {
  process.stdout.write(await format(text, { parser: 'markdown' }));
  if (document !== undefined) {
    const [before, after] = await splitAtMarks(document);
    const config = await resolveConfig(document);
    const replaced = `${before}${BEGIN}\n\n${text}\n${END}${after}`;
    await writeFile(document, await format(replaced, { ...config, filepath: document }));
  }
}

/**
 * Returns what stands before and after the marks of a report in a document.
 *
 * @throws Refusal when the document is missing or has no marks.
 */
export async function splitAtMarks(document) {
  const text = await readFile(document, 'utf8').catch(({ message }) => {
    throw new Refusal(`--into: ${message}`);
  });
  const [before, rest] = text.split(BEGIN);
  const after = rest?.split(END)[1];
  if (after === undefined) {
    throw new Refusal(`--into: ${document} has no ${BEGIN} with ${END} after it.`);
  }
  return [before, after];
}

function goalTable(goals) {
  const measured = goals.filter(({ verdict }) => verdict !== 'not measured');
  const met = measured.filter(({ verdict }) => verdict === 'met').length;
  const rows = measured.map(({ what, goal, isRatio, seen, verdict }) => [
    what,
    goal,
    ...seen.map((summary) => spread(summary, isRatio ? 2 : 0)),
    verdict === 'missed' ? '**missed**' : verdict,
  ]);
  const counts = `${met} met, ${measured.length - met} missed, ${goals.length - measured.length} not measured. ×64 means 64 connections.`;
  return `${counts}\n\n${table(['', '>goal', ...KEYS.map((keys) => `>${keysOf(keys)}`), ''], rows)}`;
}

/** A table of contestants by workloads, of those that were measured; `cellOf` gets a load and the name of a contestant. */
const workloadTable = (cellOf) =>
  table(
    ['>connections', 'work', '', ...Object.values(WORKLOADS).map((title) => `>${title}`)],
    CONNECTIONS.flatMap((connections) =>
      ROWS.map((name) => ({
        head: [String(connections), CONTESTANTS[name].work ?? '', CONTESTANTS[name].title],
        cells: Object.keys(WORKLOADS).map((workload) => cellOf({ workload, connections }, name)),
      })),
    )
      .filter(({ cells }) => cells.some((cell) => cell !== NONE))
      .map(({ head, cells }) => [...head, ...cells]),
  );

const speedTable = (results, keys) =>
  workloadTable((load, name) =>
    name === 'service'
      ? rate(results, { ...load, keys }, name)
      : spread(summarize(results.ratios({ ...load, keys }, ['service', name], 'perSecond'))),
  );

const cpuTable = (results) =>
  workloadTable((load, name) => {
    const [server, postgres] = ['serverUs', 'postgresUs'].map((figure) =>
      summarize(results.figures({ ...load, keys: USUAL_KEYS }, name, figure)),
    );
    return server ? `${round(server.median)} + ${round(postgres.median)}` : NONE;
  });

const creationTable = (results) =>
  table(
    ['', '>keys', ...CONNECTIONS.map((connections) => `>${connections}`)],
    Object.entries({ keyed: 'creation with an Idempotency-Key', order: 'order' }).flatMap(([name, title]) =>
      KEYS.map((keys) => [
        title,
        String(keys),
        ...CONNECTIONS.map((connections) => {
          const load = { workload: 'create', connections, keys };
          const ratio = summarize(results.ratios(load, [name, 'service'], 'perSecond'));
          return ratio ? `${rate(results, load, name)}: ${spread(ratio)}` : NONE;
        }),
      ]),
    ),
  );

function latencyText(results) {
  const offered = summarize(results.figures({ workload: 'latency' }, 'service', 'perSecond'));
  return offered && `Latencies are of first pages at ${round(offered.median)} requests a second.`;
}

const otherTable = (results) =>
  table(
    ['work', '', '>p50, ms', '>p99, ms', '>memory after load, MB', '>start to first response, ms'],
    ROWS.map((name) => {
      const cell = (workload, figure, digits) =>
        spread(summarize(results.figures({ workload }, name, figure)), digits);
      const { work = '', title } = CONTESTANTS[name];
      return [
        work,
        title,
        cell('latency', 'p50Ms', 2),
        cell('latency', 'p99Ms', 2),
        cell('memory', 'mb', 0),
        cell('start', 'ms', 0),
      ];
    }),
  );

const replicaText = (results) =>
  table(
    ['', '>requests/s', '>PostgreSQL µs'],
    ['one replica', 'two replicas'].map((name) => [
      name,
      rate(results, { workload: 'replicas' }, name),
      spread(summarize(results.figures({ workload: 'replicas' }, name, 'postgresUs')), 0),
    ]),
  );

const rate = (results, load, name) => {
  const summary = summarize(results.figures(load, name, 'perSecond'));
  return summary ? round(summary.median) : NONE;
};

const round = (number) => Math.round(number).toLocaleString('en');
const keysOf = (keys) => (keys === 1 ? '1 key' : `${keys.toLocaleString('en')} keys`);

function spread(summary, digits = 2) {
  if (summary === null) {
    return NONE;
  }
  const { low, median, high, count } = summary;
  const text = `${median.toFixed(digits)} (${low.toFixed(digits)}–${high.toFixed(digits)})`;
  return count < ROUNDS ? `${text} [${count}]` : text;
}

/** A table in Markdown; a `>` before the title of a column aligns it to the right. */
const table = (head, rows) =>
  [
    head.map((cell) => cell.replace(/^>/, '')),
    head.map((cell) => (cell.startsWith('>') ? '--:' : '---')),
    ...rows,
  ]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
