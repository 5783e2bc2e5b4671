import { createInterface } from 'node:readline';
import { escapeControls } from './escape-controls.js';

/** Thrown when the user declines a confirmation. */
export class DeclinedError extends Error {}

/**
 * Asks for confirmation on a terminal. Does not ask with `--yes` or without a terminal.
 *
 * @throws DeclinedError for any answer but yes, and for Ctrl-C and Ctrl-D.
 */
export async function confirm(question: string, { yes }: { yes?: true }): Promise<void> {
  if (yes || !process.stdin.isTTY || !process.stdout.isTTY) {
    return;
  }
  const answer = await answerTo(`${escapeControls(question)} [y/N] `);
  if (answer === null) {
    // The cursor is still on the line of the question.
    process.stderr.write('\n');
  }
  if (!/^y(es)?$/i.test(answer?.trim() ?? '')) {
    throw new DeclinedError('Nothing was changed.');
  }
}

/** Returns the first line of standard input without spaces around it: a secret that no argument shows. */
export async function readLine(): Promise<string> {
  const lines = createInterface({ input: process.stdin });
  try {
    for await (const line of lines) {
      return line.trim();
    }
    return '';
  } finally {
    lines.close();
  }
}

/** Resolves with the typed line, or with null for Ctrl-C and Ctrl-D, which close the interface. */
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
