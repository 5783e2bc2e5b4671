// `npm run bench`: measures the service beside its peers, see README.md.

import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { listContestants } from './contestants.js';
import { missedGoals } from './goals.js';
import { interruption } from '../dev/interruption.js';
import { requireMachine } from './machine.js';
import { listPathFiles } from './path-files.js';
import { planSets, ROUNDS } from './plan.js';
import { describeMachine, readCommit, splitAtMarks } from '../dev/publishing.js';
import { Refusal } from '../dev/refusal.js';
import { MARKS, publish } from './report.js';
import { Results } from './results.js';
import { runSet } from './slices.js';
import { openStage } from './stage.js';

const ROOT = path.join(import.meta.dirname, '..');
const NEWEST = path.join(import.meta.dirname, 'node_modules', `node-linux-${process.arch}`, 'bin', 'node');

const STARTS = { speed: 5, quick: 1, replicas: 0 };
/** Figures depend on these; documents do not change them. */
const MEASURED = ['package-lock.json', 'prisma', 'src', 'bench', ':!bench/README.md'];

const OPTIONS = /** @type {const} */ ({
  quick: { type: 'boolean', default: false },
  replicas: { type: 'boolean', default: false },
  report: { type: 'boolean', default: false },
  path: { type: 'boolean', default: false },
  node: { type: 'string', default: '26' },
  before: { type: 'string' },
  workloads: { type: 'string' },
  connections: { type: 'string' },
  rounds: { type: 'string' },
  into: { type: 'string' },
});

async function main() {
  const options = readOptions();
  requireMachine();
  if (options.into !== undefined) {
    await splitAtMarks(options.into, MARKS);
  }
  const node = chooseNode(options.node);
  const kind = ['quick', 'path', 'replicas'].find((name) => options[name]) ?? 'speed';
  const circumstances = {
    kind,
    date: new Date().toISOString().slice(0, 10),
    commit: readCommit(ROOT, MEASURED),
    before: options.before && readCommit(options.before, MEASURED),
    machine: describeMachine(),
    node: execFileSync(node, ['--version'], { encoding: 'utf8' }).trim(),
  };
  const earlier = options.report ? Results.latest(circumstances) : undefined;
  if (options.report && earlier === undefined) {
    throw new Refusal('There are no results of this commit and Node to report.');
  }
  const results = earlier ?? Results.create(circumstances);
  if (!options.report) {
    await measure(results, node, options);
  }
  if (!options.path) {
    await publish(results, options.into);
    if (options.quick) {
      log('A quick run only checks that all contestants do the same work: its ratios are noise.');
    }
    log(`All figures are in ${path.relative(process.cwd(), results.file)}`);
    const missed = missedGoals(results);
    missed.forEach((line) => log(`Missed: ${line}`));
    process.exitCode = missed.length > 0 ? 1 : 0;
  }
}

async function measure(results, node, options) {
  const { quick, before } = options;
  const { kind } = results.circumstances;
  const sets = planSets({ kind, before: before !== undefined }).filter(
    ({ load }) =>
      isChosen(options.workloads, load.workload) && isChosen(options.connections, load.connections),
  );
  const rounds = Number(options.rounds ?? (quick ? 1 : ROUNDS));
  const contestants = listContestants(before);
  const record = (workload, name, figures) =>
    results.add([{ workload, set: workload, round: results.records.length, case: name, ...figures }]);
  log('Preparing the data');
  const warmUp = quick ? [] : ['first', 'one', 'create', 'mix'];
  const stage = await openStage({ node, contestants, warmUp }, record);
  try {
    if (options.path) {
      process.stdout.write(`${(await listPathFiles(stage, contestants.service)).join('\n')}\n`);
      return;
    }
    for (let start = 0; start < STARTS[kind]; start += 1) {
      const server = await stage.launchAlone(contestants.service);
      record('start', 'service', { ms: server.startMs });
      await server.stop();
    }
    for (const set of sets) {
      const { workload, connections } = set.load;
      log(`${workload}, connections: ${connections}: ${set.id}`);
      await runSet(stage, set, results, rounds);
    }
  } finally {
    await stage.close();
  }
}

function readOptions() {
  try {
    return parseArgs({ options: OPTIONS }).values;
  } catch (error) {
    const known = Object.keys(OPTIONS).map((name) => `--${name}`);
    throw new Refusal(`${error.message}\nThe options are ${known.join(', ')}.`, { cause: error });
  }
}

const isChosen = (list, value) => list === undefined || list.split(',').includes(String(value));

/** Returns the Node of the image, or the one that runs the bench when that is the requested major version. */
function chooseNode(major) {
  if (process.version.startsWith(`v${major}.`)) {
    return process.execPath;
  }
  if (major === OPTIONS.node.default && existsSync(NEWEST)) {
    return NEWEST;
  }
  throw new Refusal(`--node=${major}: run the bench itself with Node ${major}.`);
}

function log(text) {
  process.stderr.write(`${text}\n`);
}

try {
  await main();
} catch (error) {
  const { reason = error } = interruption;
  log(reason instanceof Refusal ? reason.message : reason.stack);
  process.exitCode = 1;
}
