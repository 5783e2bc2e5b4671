import stringWidth from 'string-width';
import { escapeControls } from './escape-controls.js';

const GAP = '  ';
/** Each of them takes one column of a terminal. */
const ASCII = /^[\x20-\x7e]*$/;

export type Cell = string | number | boolean | null;

/** Prints sentences, one to a line, for a person. */
export function printLines(...lines: string[]): void {
  process.stdout.write(`${lines.map(escapeControls).join('\n')}\n`);
}

/** Prints one JSON text, for a program. */
export function printJson(value: unknown): void {
  process.stdout.write(`${escapeControls(JSON.stringify(value))}\n`);
}

/** Prints rows in columns, for a person; a null is a dash, and no rows are said to be none. */
export function printTable(head: string[], rows: Cell[][]): void {
  if (rows.length === 0) {
    printLines('None.');
    return;
  }
  printRows([head.map((name) => name.toUpperCase()), ...rows]);
}

/** Prints facts, one to a line, for a person. */
export function printFacts(facts: Record<string, Cell>): void {
  printRows(Object.entries(facts));
}

function printRows(rows: Cell[][]): void {
  const texts = rows.map((row) => row.map((cell) => escapeControls(String(cell ?? '-'))));
  const widths: number[] = [];
  for (const row of texts) {
    row.forEach((text, column) => {
      widths[column] = Math.max(widths[column] ?? 0, widthOf(text));
    });
  }
  const lines = texts.map((row) =>
    row
      .map((text, column) => text + ' '.repeat((widths[column] ?? 0) - widthOf(text)))
      .join(GAP)
      .trimEnd(),
  );
  process.stdout.write(`${lines.join('\n')}\n`);
}

/** In columns of a terminal; the library alone would take seconds for a long table. */
function widthOf(text: string): number {
  return ASCII.test(text) ? text.length : stringWidth(text);
}
