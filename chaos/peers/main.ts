// `npm run chaos:peers`: how exact is this service's limiter, and how exact are others? See README.md.

import { setMaxListeners } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Command, Option } from 'commander';
import { describeMachine, formatMarkdown, splitAtMarks, writeBetweenMarks } from '../../dev/publishing.js';
import { interruption } from '../../dev/interruption.js';
import { Refusal } from '../../dev/refusal.js';
import { POSTGRES_PROGRAMS } from '../../test/support/programs/debian-postgres.js';
import { claimFolder } from '../ledger.js';
import { requireMachine } from '../requirements.js';
import { Guard } from '../stage/guard.js';
import { type RunningPeer, startPeer, type Stores } from './instances.js';
import { judge } from './judge.js';
import { LIMIT, PEERS, type Peer, type PeerName, versionOf } from './peers.js';
import { drawMost, findMissing, MARKS, type Results, type TrialResult, tabulate } from './report.js';
import { openPostgres, openRedis } from './stores.js';
import { hitsStores, QUICK, runTrial, type Trial, type TrialName, TRIALS } from './trials.js';

const FOLDER = path.join(import.meta.dirname, 'out');
const FILE = path.join(FOLDER, 'results.json');
/** By their Debian packages. */
const PROGRAMS = { 'redis-server': 'redis-server', nginx: 'nginx', haproxy: 'haproxy' };
const PICTURE = 'accuracy.svg';

interface Options {
  peer: PeerName[];
  trial: TrialName[];
  into?: string;
  quick?: true;
}

// Every peer waits for it.
setMaxListeners(0, interruption);

function readOptions(): Options {
  const list = (name: string, text: string, names: string[]) =>
    new Option(`--${name} <names...>`, text).choices(names).default(names, 'all');
  return new Command('npm run chaos:peers --')
    .addOption(list('peer', 'whom to try', Object.keys(PEERS)))
    .addOption(list('trial', 'what to try', Object.keys(TRIALS)))
    .option('--into <document>', `a document with the marks <!-- ${MARKS} -->, for the table`)
    .option('--quick', 'ten seconds of @nestjs/throttler in memory, which must exceed, and of this service')
    .allowExcessArguments(false)
    .parse()
    .opts<Options>();
}

async function main(): Promise<boolean> {
  const options = readOptions();
  requireMachine(options.quick ? {} : PROGRAMS);
  const claim = await claimFolder();
  if (options.into !== undefined) {
    await splitAtMarks(options.into, MARKS);
  }
  const guard = new Guard();
  const running = new Map<PeerName, Peer & RunningPeer>();
  const stores: Stores = {};
  try {
    for (const name of options.quick ? (['throttler-memory', 'service'] as const) : options.peer) {
      await start(name);
    }
    if (options.quick) {
      return await runQuick();
    }
    const rows: TrialResult[] = [];
    for (const name of options.trial) {
      rows.push(...(await run(name, TRIALS[name])));
    }
    await publish(save(rows), options.into);
    return rows.every((row) => PEERS[row.peer].rule.kind !== 'clock' || row.most - row.marked <= LIMIT);
  } finally {
    await Promise.all([...running.values()].flatMap(({ instances }) => instances.map((each) => each.kill())));
    await Promise.all(Object.values(stores).map((store) => store.close()));
    guard.close();
    claim.close();
  }

  async function start(name: PeerName): Promise<void> {
    const peer: Peer = PEERS[name];
    // This service has its keys in PostgreSQL.
    if (peer.store === 'postgres' || peer.launch === undefined) {
      stores.postgres ??= await openPostgres(guard);
    }
    if (peer.store === 'redis') {
      stores.redis ??= await openRedis(guard);
    }
    log(`Starting ${peer.title}`);
    running.set(name, { ...peer, ...(await startPeer(name, peer, stores, guard)) });
  }

  async function run(trialName: string, trial: Trial): Promise<TrialResult[]> {
    if (!hitsStores(trial)) {
      return runOn(trialName, trial, stores, () => true);
    }
    const rows: TrialResult[] = [];
    // One store after the other, because this service needs both when it counts in Redis.
    for (const name of ['redis', 'postgres'] as const) {
      const store = stores[name];
      if (store !== undefined && [...running.values()].some((peer) => peer.store === name)) {
        rows.push(...(await runOn(trialName, trial, { [name]: store }, (peer) => peer.store === name)));
      }
    }
    return rows;
  }

  async function runOn(
    trialName: string,
    trial: Trial,
    failing: Stores,
    isTried: (peer: Peer) => boolean,
  ): Promise<TrialResult[]> {
    log(`Trying: ${trial.title}`);
    const peers = new Map([...running].filter(([, peer]) => isTried(peer)));
    const observed = await runTrial(trial, peers, failing, interruption);
    mkdirSync(FOLDER, { recursive: true });
    return [...observed].map(([peer, observations]) => {
      writeFileSync(path.join(FOLDER, `${peer}-${trialName}.json`), JSON.stringify(observations));
      const { rule, version } = PEERS[peer];
      const date = new Date().toISOString().slice(0, 10);
      return { peer, trial: trialName, ...judge(observations, rule), version: version(), date };
    });
  }

  async function runQuick(): Promise<boolean> {
    const rows = await run('quick', QUICK);
    rows.forEach(({ peer, most, allowed }) => log(`${peer}: ${most} of 60 in one window, ${allowed} in all`));
    const exceeds = (name: PeerName) => rows.some((row) => row.peer === name && row.exceeds);
    const isServed = rows.every(({ failed }) => failed === 0);
    return exceeds('throttler-memory') && !exceeds('service') && isServed;
  }
}

/** Adds rows to those of earlier runs on such a machine, in place of earlier ones. */
function save(rows: TrialResult[]): Results {
  const redis = versionOf('redis-server', '--version');
  const postgres = versionOf(path.join(POSTGRES_PROGRAMS ?? '', 'postgres'), '--version');
  const machine = describeMachine();
  const platform = `Redis ${redis}, PostgreSQL ${postgres}, Node ${process.version}`;
  const before = readEarlier();
  const earlier = before?.machine === machine && before.platform === platform ? before.rows : [];
  const kept = earlier.filter(
    (row) => !rows.some(({ peer, trial }) => peer === row.peer && trial === row.trial),
  );
  const results: Results = { machine, platform, rows: [...kept, ...rows] };
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(FILE, `${JSON.stringify(results, null, 2)}\n`);
  return results;
}

function readEarlier(): Results | null {
  return existsSync(FILE) ? (JSON.parse(readFileSync(FILE, 'utf8')) as Results) : null;
}

async function publish(results: Results, document?: string): Promise<void> {
  const text = tabulate(results);
  process.stdout.write(await formatMarkdown(text));
  if (document !== undefined) {
    const missing = findMissing(results.rows);
    if (missing.length > 0) {
      throw new Refusal(`${document} is as it was, because these are missing: ${missing.join(', ')}`);
    }
    await writeBetweenMarks(document, MARKS, text);
    writeFileSync(path.join(path.dirname(document), PICTURE), drawMost(results));
  }
}

function log(text: string): void {
  process.stderr.write(`${text}\n`);
}

main().then(
  (isAsClaimed) => process.exit(isAsClaimed ? 0 : 1),
  (error: Error) => {
    // After Ctrl-C, other errors follow from it.
    const { reason = error } = interruption as { reason?: Error };
    log(reason instanceof Refusal ? reason.message : String(reason.stack));
    process.exit(1);
  },
);
