import { createInterface } from 'node:readline';
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
export async function readLine(prompt = '', output?: NodeJS.WritableStream): Promise<string | null> {
  const terminal = createInterface({ input: process.stdin, prompt, ...(output && { output }) });
  terminal.prompt();
  const { value } = await terminal[Symbol.asyncIterator]().next();
  terminal.close();
  return (value as string | undefined)?.trim() ?? null;
}
