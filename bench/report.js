import { describeCircumstances } from './circumstances.js';
import { CONTESTANTS } from './contestants.js';
import { goalTable, table } from './table.js';
import { median, ratioOf } from './statistics.js';
import { MODERATE_PER_SECOND } from './turn.js';
import { WORKLOADS } from './workloads.js';

/** All that was measured, as Markdown that may stand below a heading of a document. */
export function report(facts, goals) {
  const { options } = facts;
  return [
    describeCircumstances(facts.circumstances),
    way(facts),
    ...options.connections.map((count) => `### ${count} connections\n\n${loads(facts, count)}`),
    `### Latency, memory and start\n\n${rest(facts)}`,
    ...(goals.length > 0 ? [`### Goals\n\n${goalTable(goals)}`] : []),
  ]
    .join('\n\n')
    .concat('\n');
}

/** How it was measured, and how much the machine let itself be disturbed. */
function way({ options, othersCores, workMs }) {
  const { rounds, seconds } = options;
  const uneven = Math.max(...workMs) / Math.min(...workMs);
  return [
    `Rounds: ${rounds}, ${seconds} s for each load. Figures are medians; ratios are medians of those of each round, with`,
    'the least and the greatest.',
    ...(othersCores === null ? [] : [`Other programs used ${othersCores.toFixed(2)} cores meanwhile.`]),
    `The same arithmetic took up to ${uneven.toFixed(1)} times as long before one turn as before another.`,
  ].join(' ');
}

function loads({ options: { only, workloads }, turns }, count) {
  const rows = workloads.flatMap((workload) => {
    const measured = (name) => turns[name].flatMap(({ loads: all }) => all[`${workload} ${count}`] ?? []);
    const speeds = (name) => measured(name).map(({ perSecond }) => perSecond);
    return only
      .filter((name) => measured(name).length > 0)
      .map((name) => {
        const { title, peerOf } = CONTESTANTS[name];
        const compared = only.includes(peerOf) && measured(peerOf).length > 0;
        return [
          WORKLOADS[workload],
          title,
          Math.round(median(speeds(name))).toLocaleString('en'),
          compared ? spread(ratioOf(speeds(peerOf), speeds(name))) : '',
          cost(measured(name).map(({ serverUs }) => serverUs)),
          cost(measured(name).map(({ postgresUs }) => postgresUs)),
        ];
      });
  });
  return table(['', '', '>requests/s', '>service / peer', '>server µs', '>PostgreSQL µs'], rows);
}

function rest({ options: { only }, turns, halfLoad }) {
  const ms = (name, read) => median(turns[name].map(read)).toFixed(2);
  const rows = only.map((name) => [
    CONTESTANTS[name].title,
    ms(name, ({ moderate }) => moderate.p50Ms),
    ms(name, ({ moderate }) => moderate.p99Ms),
    ...(halfLoad === null ? [] : [ms(name, ({ half }) => half.p50Ms), ms(name, ({ half }) => half.p99Ms)]),
    cost(turns[name].map(({ memoryBytes }) => memoryBytes && memoryBytes / 1e6)),
    cost(turns[name].map(({ startMs }) => startMs)),
    CONTESTANTS[name].logs,
  ]);
  const at = (perSecond) => [`>p50 ms at ${perSecond}/s`, `>p99 ms at ${perSecond}/s`];
  const half = halfLoad === null ? [] : at(halfLoad);
  return table(
    ['', ...at(MODERATE_PER_SECOND), ...half, '>MB after load', '>ms to first answer', 'logs'],
    rows,
  );
}

const spread = ({ median: middle, least, greatest }) =>
  `${middle.toFixed(2)} (${least.toFixed(2)}–${greatest.toFixed(2)})`;

/** Where the machine does not tell, a dash. */
const cost = (numbers) => (numbers.includes(null) ? '–' : median(numbers).toFixed(0));
