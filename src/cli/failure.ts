import { ApiError } from '../http/routes/api-error.js';
import { describeFailure } from '../start/describe-failure.js';
import { faultOfOption } from './option-faults.js';
import { clipValues, escapeControls, escapeLines } from './output/text.js';

/** Runs a command. Reports a failure on standard error and sets exit code 1. */
export async function reportFailure(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    // An API error is one line, though names in it may contain line breaks; settings and stacks have several
    // lines.
    const isOfService = error instanceof ApiError;
    const fault = isOfService ? faultOfOption(error) : null;
    const escape = isOfService ? (text: string) => escapeControls(clipValues(text)) : escapeLines;
    process.stderr.write(`${escape(fault === null ? describeFailure(error) : `error: ${fault}`)}\n`);
    process.exitCode = 1;
  }
}
