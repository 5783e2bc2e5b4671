import { Refusal } from './refusal.js';

/** The exit code that a shell expects of a program that was interrupted. */
const INTERRUPTED = 130;

/** Aborted by Ctrl-C or a terminal that closes, so that whoever waits ends and puts away what was started. */
const controller = new AbortController();

export const interruption = controller.signal;

for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(name, () => controller.abort(new Error('Interrupted')));
}

/** Runs a program of this folder, and says why it failed. */
export async function runToEnd(main) {
  try {
    await main();
  } catch (error) {
    const reason = error instanceof Refusal ? error.message : error.stack;
    process.stderr.write(`${interruption.aborted ? 'Interrupted' : reason}\n`);
    process.exitCode = interruption.aborted ? INTERRUPTED : 1;
  }
}
