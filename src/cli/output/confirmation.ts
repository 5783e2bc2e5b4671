import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
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
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const closed = once(terminal, 'close').then(() => '');
    const answer = await Promise.race([terminal.question(`${escapeControls(question)} [y/N] `), closed]);
    if (!/^y(es)?$/i.test(answer.trim())) {
      throw new DeclinedError('Nothing was changed.');
    }
  } finally {
    terminal.close();
  }
}
