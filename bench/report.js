import { CONTESTANTS } from './contestants.js';
import { median, ratioOf } from './statistics.js';
import { WORKLOADS } from './workloads.js';

export function report(options, turns) {
  return options.connections
    .map((count) => `\n## ${count} connections\n\n${throughput(options, turns, count)}`)
    .concat(rest(options, turns))
    .join('\n');
}

function throughput({ workloads, only }, turns, count) {
  const rows = workloads.flatMap((workload) => {
    const load = `${workload} ${count}`;
    const speeds = (name) => turns[name].map(({ loads }) => loads[load].perSecond);
    const cost = (name, what) => {
      const all = turns[name].map(({ loads }) => loads[load][what]);
      return all.includes(null) ? '–' : median(all).toFixed(0);
    };
    return only.map((name) => [
      WORKLOADS[workload],
      CONTESTANTS[name].title,
      Math.round(median(speeds(name))).toLocaleString('en'),
      name === 'service' || !only.includes('service') ? '' : spread(ratioOf(speeds('service'), speeds(name))),
      cost(name, 'serverUs'),
      cost(name, 'postgresUs'),
    ]);
  });
  return table(['load', 'who', 'requests/s', 'service / peer', 'server µs', 'PostgreSQL µs'], rows);
}

function rest({ only }, turns) {
  const of = (name, read) => median(turns[name].map(read));
  const rows = only.map((name) => [
    CONTESTANTS[name].title,
    of(name, ({ moderate }) => moderate.p50Ms).toFixed(2),
    of(name, ({ moderate }) => moderate.p99Ms).toFixed(2),
    (of(name, ({ memoryBytes }) => memoryBytes) / 1024 / 1024).toFixed(0),
    of(name, ({ startMs }) => startMs).toFixed(0),
    CONTESTANTS[name].logs,
  ]);
  return `\n${table(['who', 'p50 ms', 'p99 ms', 'MB', 'start ms', 'logs'], rows)}\n`;
}

const spread = ({ median: middle, least, greatest }) =>
  `${middle.toFixed(2)} (${least.toFixed(2)}–${greatest.toFixed(2)})`;

function table(head, rows) {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
