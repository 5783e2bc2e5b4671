import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type Build, THIS_BUILD } from '../dev/release/build.js';
import type { FromProcess, ToProcess } from './clients/messages.js';
import { Faults } from './faults/faults.js';
import { canLosePackets, openOwnNetwork } from './faults/packet-loss.js';
import { CALM_MS, planFaults } from './faults/schedule.js';
import { monotonicMs, OUT } from './ledger.js';
import type { Options } from './options.js';
import { LoadProcess, ROOT } from './processes.js';
import { Progress } from './progress.js';
import { writeReport } from './report.js';
import { Rollout } from './rollout.js';
import { BAN_DURATIONS_S, Stage } from './stage/stage.js';
import { dumpTables } from './tables.js';

const CLIENTS = ['client-1', 'client-2', 'client-3'];

/**
 * Drives the service through a run, and runs the verifier on it.
 *
 * @param former the build that the replicas run first, and that those of this tree replace; null for none.
 * @param interruption ends the run early, with the report so far.
 * @returns whether every claim held, and the run was whole.
 */
export async function runFaultTest(
  options: Options,
  former: Build | null,
  interruption: AbortSignal,
): Promise<boolean> {
  rmSync(OUT, { recursive: true, force: true });
  mkdirSync(OUT, { recursive: true });
  const stage = new Stage();
  const broken = new AbortController();
  const over = AbortSignal.any([interruption, broken.signal]);
  const processes: LoadProcess[] = [];
  try {
    if (canLosePackets) {
      await openOwnNetwork();
    }
    log(`Starting ${options.replicas} replicas; counters: ${options.store}, seed ${options.seed}`);
    const adminKey = await stage.start(options, former ?? THIS_BUILD);
    interruption.throwIfAborted();
    const faults = new Faults(stage);
    const progress = new Progress(faults.seen);
    const rollout =
      former &&
      new Rollout(former, {
        stage,
        faults,
        seed: options.seed,
        pause,
        onReplaced: (replica, version) =>
          processes.forEach((each) => each.send({ type: 'replaced', replica, version })),
        onFailure: (error) => broken.abort(error),
      });
    const startedAt = new Date().toISOString();
    // The minutes count from here; otherwise a slow machine would spend those of a short run on its start.
    await Promise.race([startLoad(), once(over, 'abort')]);
    let failure: string | null = null;
    try {
      await rollout?.start();
      const endMs = monotonicMs() + options.minutes * 60_000;
      for (const episode of planFaults(options.seed, options.minutes, faults.targets)) {
        if (!(await pause(episode.calmMs))) {
          break;
        }
        await faults.run(episode.faults, pause);
      }
      await rollout?.stop();
      await pause(Math.max(CALM_MS, endMs - monotonicMs()));
      failure = over.aborted ? (over.reason as Error).message : null;
    } catch (error) {
      failure = (error as Error).message;
    }
    await rollout?.stop();
    log('Waiting for the last responses');
    await Promise.all(processes.map((each) => each.stop()));
    progress.stop();
    await faults.close().catch((error: Error) => {
      failure ??= error.message;
    });
    const idle = [former ?? THIS_BUILD, THIS_BUILD].find(({ version }) => !progress.decisionsOf[version]);
    if (idle !== undefined) {
      failure ??= `${idle.version} decided on no request`;
    }
    if (failure !== null) {
      log(`The run ended early: ${failure}`);
    }
    const endedMs = monotonicMs();
    writeRun({ startedMs: progress.startMs, startedAt, endedMs });
    const { hasHeld, verdict } = await verify(stage.databaseUrl);
    const report = { options, startedAt, endedMs, progress, faults: faults.seen, failure, verdict };
    log(`${verdict}\nThe report is in ${path.relative(process.cwd(), writeReport(report))}`);
    return hasHeld && failure === null;

    /** Starts the clients and the administrator. Resolves once the first keys are issued. */
    function startLoad(): Promise<void> {
      let setReady = () => {};
      const ready = new Promise<void>((resolve) => (setReady = resolve));
      const relay = (message: FromProcess) => {
        if (message.type === 'counts') {
          progress.add(message.counts, message.decisionsOf);
        } else if (message.type === 'ready') {
          setReady();
        } else {
          clients.forEach((client) => client.send(message));
        }
      };
      const fail = (error: Error) => broken.abort(error);
      const clients = CLIENTS.map(() => new LoadProcess('clients/client.ts', relay, fail));
      const administrator = new LoadProcess('clients/administrator.ts', relay, fail);
      processes.push(administrator, ...clients);
      const { seed } = options;
      const replicas = stage.replicas.map(({ name, port, build: { version } }) => ({ name, port, version }));
      const setup = (name: string): ToProcess => ({
        type: 'setup',
        setup: { name, seed, replicas, adminKey },
      });
      clients.forEach((client, index) => client.send(setup(CLIENTS[index] ?? '')));
      administrator.send(setup('administrator'));
      return ready;
    }
  } finally {
    processes.forEach((each) => each.kill());
    await stage.close();
  }

  /** Waits, but not beyond the end of the run. Returns whether the run continues. */
  async function pause(ms: number): Promise<boolean> {
    await sleep(Math.max(0, ms), undefined, { signal: over }).catch(() => {});
    return !over.aborted;
  }

  function writeRun(times: { startedMs: number; startedAt: string; endedMs: number }): void {
    const clock = { nowMs: Date.now(), monotonicMs: monotonicMs() };
    const run = { ...options, ...times, banDurations: BAN_DURATIONS_S, clock };
    writeFileSync(path.join(OUT, 'run.json'), `${JSON.stringify(run, null, 2)}\n`);
  }
}

/**
 * Runs the verifier on the ledger and the final tables. Returns its verdict, or why it reached no verdict.
 */
async function verify(databaseUrl: string): Promise<{ hasHeld: boolean; verdict: string }> {
  try {
    await dumpTables(databaseUrl);
    const verifier = ['--silent', 'run', 'chaos:verify', '--', OUT];
    const { stdout } = await promisify(execFile)('npm', verifier, { cwd: ROOT });
    return { hasHeld: true, verdict: stdout };
  } catch (error) {
    const { stdout, message } = error as Error & { stdout?: string };
    // The verifier prints its table if it has found violations. Without a table, it failed, or the tables
    // could not be read.
    return { hasHeld: false, verdict: stdout || `There is no verdict: ${message}` };
  }
}

function log(text: string): void {
  process.stderr.write(`${text}\n`);
}
