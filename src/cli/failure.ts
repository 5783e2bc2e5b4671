import { ApiError } from '../errors/api-error.js';
import { reasonOf } from '../failure.js';
import { escapeControls, escapeLines } from './output/escape-controls.js';

/** The exit code of a command that was not carried out. */
export const EXIT_REFUSED = 1;

/** Somebody was asked whether to go on, and declined. */
export class DeclinedError extends Error {}

/** Does the work of a command. A failure is reported on standard error, and by exit code 1. */
export async function tellFailure(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const reason = error instanceof DeclinedError ? error.message : reasonOf(error);
    // A refusal is one line, in which names may stand that hold line breaks; settings and stacks have several.
    const escape = error instanceof ApiError ? escapeControls : escapeLines;
    process.stderr.write(`${escape(reason)}\n`);
    process.exitCode = EXIT_REFUSED;
  }
}
