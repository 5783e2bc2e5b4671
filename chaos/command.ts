import type { Server } from 'node:net';
import { readOptions } from './options.js';
import { Refusal } from '../dev/refusal.js';
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
// The report matters still once the terminal is closed, or Ctrl-C has ended a `tee` too.
process.stderr.on('error', () => {});

async function main(): Promise<boolean> {
  try {
    const options = readOptions(process.argv.slice(2));
    requirePrograms(options.store);
    return await runFaultTest(options, interruption.signal);
  } catch (error) {
    const text = error instanceof Refusal ? error.message : (error as Error).stack;
    process.stderr.write(`${text}\n`);
    return false;
  }
}

// Otherwise what a failed start left open would keep the process alive.
void main().then((hasHeld) => process.exit(hasHeld ? 0 : 1));
