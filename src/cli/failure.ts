import { ApiError } from '../errors/api-error.js';
import { reasonOf } from '../failure.js';
import { escapeControls, escapeLines } from './escape-controls.js';

/** The exit code of a command that was not carried out. */
export const EXIT_REFUSED = 1;

/** Does the work of a command. A failure is told on standard error, and by exit code 1. */
export async function tellFailure(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    // A refusal is one line, in which names may stand that hold line breaks; settings and stacks have several.
    const escape = error instanceof ApiError ? escapeControls : escapeLines;
    process.stderr.write(`${escape(reasonOf(error))}\n`);
    process.exitCode = EXIT_REFUSED;
  }
}
