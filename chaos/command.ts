import type { Server } from 'node:net';
import { readOptions } from './options.js';
import { Refusal } from '../dev/refusal.js';
import { buildRelease, findRelease } from '../dev/release/build.js';
import { requirePrograms } from './requirements.js';
import { runFaultTest } from './run.js';

const interruption = new AbortController();
const interrupt = () => interruption.abort(new Refusal('it was interrupted'));
process.on('disconnect', interrupt);
// This process claims the folder too, because it outlives the one that started it if that is killed.
process.once('message', (_name, claim) => (claim as Server).unref());
if (!process.connected) {
  interrupt(); // It came while this process started.
}
// The report is still wanted when the terminal is closed, or Ctrl-C has ended a `tee` too.
process.stderr.on('error', () => {});

async function main(): Promise<boolean> {
  try {
    const options = readOptions(process.argv.slice(2));
    requirePrograms(options.store);
    const { upgradeFrom } = options;
    if (upgradeFrom === undefined) {
      return await runFaultTest(options, null, interruption.signal);
    }
    const release = await findRelease(upgradeFrom);
    process.stderr.write(`Building ${release.version} (${release.commit}), unless it is built\n`);
    const former = await buildRelease(release, interruption.signal);
    return await runFaultTest(options, former, interruption.signal);
  } catch (failure) {
    // What it ends, such as the build of a release, fails otherwise.
    const error: unknown = interruption.signal.aborted ? interruption.signal.reason : failure;
    const text = error instanceof Refusal ? error.message : (error as Error).stack;
    process.stderr.write(`${text}\n`);
    return false;
  }
}

// Otherwise what a failed start left open would keep the process alive.
void main().then((hasHeld) => process.exit(hasHeld ? 0 : 1));
