import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import { OperatorError } from '../../process/operator-error.js';
import { escapeControls } from './text.js';

/**
 * Asks for confirmation on a terminal. Does not ask with `--yes` or without a terminal.
 *
 * @throws OperatorError for any answer but yes, and for Ctrl-C and Ctrl-D.
 */
export async function confirm(question: string, { yes }: { yes?: true }): Promise<void> {
  if (yes || !process.stdin.isTTY || !process.stdout.isTTY) {
    return;
  }
  const answer = await readLine(`${escapeControls(question)} [y/N] `, process.stderr);
  if (answer === null) {
    // The cursor is still on the line of the question.
    process.stderr.write('\n');
  }
  if (!/^y(es)?$/i.test(answer ?? '')) {
    throw new OperatorError('Nothing was changed.');
  }
}

/**
 * Returns the first line of standard input without spaces around it: a secret that no argument shows, or the
 * answer to a question. Null if the input ends, as by Ctrl-C or Ctrl-D.
 */
export async function readLine(question = '', output?: NodeJS.WritableStream): Promise<string | null> {
  const terminal = createInterface({ input: process.stdin, ...(output && { output }) });
  const closed = once(terminal, 'close').then(() => null);
  try {
    return (await Promise.race([terminal.question(question), closed]))?.trim() ?? null;
  } catch (error) {
    // Node 24 rejects the question as well when it closes.
    if ((error as Error).name === 'AbortError') {
      return null;
    }
    throw error;
  } finally {
    terminal.close();
  }
}
