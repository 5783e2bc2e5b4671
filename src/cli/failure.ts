import { reasonOf } from '../failure.js';

/** The exit code of a command that was not carried out. */
export const EXIT_REFUSED = 1;

/** Does the work of a command. A failure is told on standard error, and by exit code 1. */
export async function tellFailure(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    process.stderr.write(`${reasonOf(error)}\n`);
    process.exitCode = EXIT_REFUSED;
  }
}
