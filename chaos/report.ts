import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { canLosePackets } from './faults/packet-loss.js';
import { OUT } from './ledger.js';
import type { Fault } from './verifier/evidence.js';
import type { Options } from './options.js';
import { drawThroughput } from './picture.js';
import type { Progress } from './progress.js';

/** What a report says of a run. */
interface Run {
  options: Options;
  startedAt: string;
  endedMs: number;
  progress: Progress;
  faults: Fault[];
  /** Why it ended early, if it did. */
  failure: string | null;
  /** What the verifier printed. */
  verdict: string;
}

/** Writes `REPORT.md` and its picture. Returns the path of the report. */
export function writeReport(run: Run): string {
  const { options, startedAt, endedMs, progress, faults, failure, verdict } = run;
  const { seed, store, replicas, minutes, upgradeFrom } = options;
  const { startMs, total } = progress;
  const command =
    `npm run chaos -- --minutes ${minutes} --replicas ${replicas} --store ${store} --seed ${seed}` +
    (upgradeFrom === undefined ? '' : ` --upgrade-from ${upgradeFrom}`);
  const lasted = ((endedMs - startMs) / 60_000).toFixed(1);
  writeFileSync(path.join(OUT, 'throughput.svg'), drawThroughput(progress.seconds, faults, startMs));
  const lines = [
    '# A run of `npm run chaos`',
    '',
    `It started at ${startedAt} and lasted ${lasted} minutes for ${minutes} planned. To repeat its schedule:`,
    `\`${command}\``,
    ...(canLosePackets ? [] : ['', 'No packets were lost: the system refused a network for that.']),
    ...(failure === null ? [] : ['', `**It ended early: ${failure}**`]),
    '',
    '## Claims',
    '',
    verdict.trimEnd(),
    '',
    '## Requests',
    '',
    '| decisions | of them allowed | denied | counted locally | undecided | without response |',
    '| --- | --- | --- | --- | --- | --- |',
    `| ${Object.values(total).join(' | ')} |`,
    '',
    ...(upgradeFrom === undefined ? [] : describeVersions(progress)),
    '![Decisions a second, with the faults](throughput.svg)',
    '',
    '## Faults',
    '',
    '| number | second | fault | of | lasted |',
    '| --- | --- | --- | --- | --- |',
    ...faults.map((fault, index) => describeFault(fault, index, startMs)),
    '',
  ];
  const file = path.join(OUT, 'REPORT.md');
  writeFileSync(file, lines.join('\n'));
  return file;
}

function describeVersions({ decisionsOf, total }: Progress): string[] {
  const rows = Object.entries(decisionsOf).map(
    ([version, decisions]) =>
      `| ${version} | ${decisions} | ${((100 * decisions) / total.decisions).toFixed(0)} % |`,
  );
  return ['| version | decisions | share |', '| --- | --- | --- |', ...rows, ''];
}

function describeFault(line: Fault, index: number, startMs: number): string {
  const lasted =
    line.endMs === null ? 'until the end' : `${((line.endMs - line.startMs) / 1000).toFixed(1)} s`;
  const second = ((line.startMs - startMs) / 1000).toFixed(1);
  const fault = line.version === undefined ? line.fault : `${line.fault} by ${line.version}`;
  return `| ${index + 1} | ${second} | ${fault} | ${line.target} | ${lasted} |`;
}
