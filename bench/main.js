// `npm run bench`: measures the service beside its peers, see README.md.

import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { listContestants } from './contestants.js';
import { KEYS } from './data.js';
import { judgeGoals } from './goals.js';
import { interruption, Refusal } from './interruption.js';
import { describeMachine, requireMachine } from './machine.js';
import { listPathFiles } from './path-files.js';
import { planSets, ROUNDS } from './plan.js';
import { publish, report, splitAtMarks } from './report.js';
import { Results } from './results.js';
import { countRounds, runSet } from './slices.js';
import { openStage } from './stage.js';

const ROOT = path.join(import.meta.dirname, '..');
const NEWEST = path.join(import.meta.dirname, 'node_modules', `node-linux-${process.arch}`, 'bin', 'node');

const STARTS = 5;
/** No round starts later than this, so that a default run ends within 15 minutes. */
const DEFAULT_RUN_MS = 13.5 * 60_000;
/** Figures depend on these; documents do not change them. */
const MEASURED = ['package-lock.json', 'prisma', 'src', 'bench', ':!bench/README.md'];

const OPTIONS = /** @type {const} */ ({
  full: { type: 'boolean', default: false },
  quick: { type: 'boolean', default: false },
  report: { type: 'boolean', default: false },
  path: { type: 'boolean', default: false },
  node: { type: 'string', default: '26' },
  before: { type: 'string' },
  workloads: { type: 'string' },
  connections: { type: 'string' },
  keys: { type: 'string' },
  rounds: { type: 'string' },
  into: { type: 'string' },
});

async function main() {
  const options = readOptions();
  requireMachine();
  if (options.into !== undefined) {
    await splitAtMarks(options.into);
  }
  const node = chooseNode(options.node);
  const circumstances = {
    date: new Date().toISOString().slice(0, 10),
    commit: readCommit(ROOT),
    before: options.before && readCommit(options.before),
    machine: describeMachine(),
    node: execFileSync(node, ['--version'], { encoding: 'utf8' }).trim(),
  };
  const kind = ['quick', 'path'].find((name) => options[name]) ?? 'speed';
  const earlier = options.full || options.report ? Results.latest(kind, circumstances) : undefined;
  if (options.report && earlier === undefined) {
    throw new Refusal('There are no results of this commit and Node to report.');
  }
  const results = earlier ?? Results.create(kind, circumstances);
  if (!options.report) {
    await measure(results, node, options);
  }
  if (!options.path) {
    await publish(report(results, judgeGoals(results)), options.into);
    log(`All figures are in ${path.relative(process.cwd(), results.file)}`);
  }
}

async function measure(results, node, options) {
  const { quick, full, before } = options;
  const sets = planSets({ quick, before: before !== undefined }).filter(
    ({ load }) =>
      isChosen(options.workloads, load.workload) &&
      isChosen(options.connections, load.connections) &&
      isChosen(options.keys, load.keys),
  );
  const rounds = Number(options.rounds ?? (quick ? 1 : ROUNDS));
  if (!options.path && sets.every((set) => countRounds(results, set) >= rounds)) {
    log('All is measured.');
    return;
  }
  const untilMs = full ? Infinity : performance.now() + DEFAULT_RUN_MS;
  const contestants = listContestants(before);
  const record = (workload, name, figures) =>
    results.add([
      { workload, keys: KEYS[0], set: workload, round: results.records.length, case: name, ...figures },
    ]);
  log('Preparing the data');
  const warmUp = quick ? [] : ['first', 'one', 'create', 'mix'];
  const stage = await openStage({ node, contestants, warmUp }, record);
  try {
    if (results.figures({ workload: 'path' }, 'service', 'files').length === 0) {
      const list = await listPathFiles(stage, contestants.service);
      record('path', 'service', { files: list.length, list });
    }
    if (options.path) {
      process.stdout.write(`${results.figures({ workload: 'path' }, 'service', 'list')[0].join('\n')}\n`);
      return;
    }
    for (let start = 0; start < (quick ? 1 : STARTS); start += 1) {
      const server = await stage.launchAlone(contestants.service);
      record('start', 'service', { ms: server.startMs });
      await server.stop();
    }
    for (const set of sets.filter((each) => countRounds(results, each) < rounds)) {
      const { workload, connections, keys } = set.load;
      log(`${workload}, connections: ${connections}, keys: ${keys}: ${set.id}`);
      await runSet(stage, set, results, { rounds, untilMs });
      if (performance.now() > untilMs) {
        log('The time of a default run is over; --full continues.');
        break;
      }
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

function readCommit(folder) {
  const git = (...args) =>
    execFileSync('git', args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  try {
    const isChanged = git('status', '--porcelain', '--', ...MEASURED) !== '';
    return `${git('rev-parse', '--short', 'HEAD')}${isChanged ? '-changed' : ''}`;
  } catch {
    return 'unknown';
  }
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
