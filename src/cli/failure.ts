import { ApiError } from '../http/routes/api-error.js';
import { describeFailure } from '../start/describe-failure.js';
import { EXIT_FAILURE } from './exit-codes.js';
import { DeclinedError } from './output/confirmation.js';
import { escapeControls, escapeLines } from './output/escape-controls.js';

/** Runs a command. Reports a failure on standard error and sets exit code 1. */
export async function reportFailure(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const reason = error instanceof DeclinedError ? error.message : describeFailure(error);
    // An API error is one line, though names in it may contain line breaks; settings and stacks have several
    // lines.
    const escape = error instanceof ApiError ? escapeControls : escapeLines;
    process.stderr.write(`${escape(reason)}\n`);
    process.exitCode = EXIT_FAILURE;
  }
}
