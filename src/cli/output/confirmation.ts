import { createInterface } from 'node:readline';
import { DeclinedError } from '../failure.js';
import { escapeControls } from './escape-controls.js';
import { isInteractive } from './terminal.js';

/**
 * Asks on a terminal whether to go on. Asks nothing with `--yes`, or where nobody is there to answer.
 *
 * @throws DeclinedError for any answer but yes, also for Ctrl-C and Ctrl-D.
 */
export async function confirm(question: string, { yes }: { yes?: true }): Promise<void> {
  if (yes || !isInteractive()) {
    return;
  }
  const answer = await answerTo(`${escapeControls(question)} [y/N] `);
  if (answer === null) {
    // The cursor is still behind the question.
    process.stderr.write('\n');
  }
  if (!/^y(es)?$/i.test(answer?.trim() ?? '')) {
    throw new DeclinedError('Nothing was changed.');
  }
}

/** Resolves with the line that is typed, or null for Ctrl-C and Ctrl-D, which close the interface. */
function answerTo(question: string): Promise<string | null> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  return new Promise((resolve) => {
    terminal.once('close', () => resolve(null));
    terminal.question(question, (line) => {
      resolve(line);
      terminal.close();
    });
  });
}
