import stringWidth from 'string-width';
import wrapAnsi from 'wrap-ansi';
import { escapeControls } from './escape-controls.js';
import { type Column, type FittedColumn, fitColumns, GAP } from './fit-columns.js';
import { terminalColumns } from './terminal.js';

/** Texts whose characters each take one column of a terminal. */
const ASCII = /^[\x20-\x7e]*$/;
const ELLIPSIS = '…';

export type Cell = string | number | boolean | null;

/** Prints sentences, one per line. */
export function printLines(...lines: string[]): void {
  process.stdout.write(`${lines.map(escapeControls).join('\n')}\n`);
}

/** Prints one JSON text on one line. */
export function printJson(value: unknown): void {
  process.stdout.write(`${escapeControls(JSON.stringify(value))}\n`);
}

/**
 * Prints rows in columns that fit the terminal, or whole if standard output is not a terminal. A null is printed as a dash, and an empty
 * table as `None.`
 */
export function printTable(columns: readonly Column[], rows: readonly (readonly Cell[])[]): void {
  if (rows.length === 0) {
    printLines('None.');
    return;
  }
  const texts = [columns.map(({ head }) => head.toUpperCase()), ...rows.map(textsOf)];
  const widths = widthsOf(texts);
  const terminalWidth = terminalColumns();
  if (terminalWidth === null) {
    printColumns(texts, widths.map(columnOf));
    return;
  }
  const shown = fitColumns(columns, widths, terminalWidth);
  const lines = texts.flatMap((row) => linesOf(row, columns, shown));
  printColumns(
    lines,
    shown.map(({ width }, index) => columnOf(width, index)),
  );
  const isShown = new Set(shown.map(({ index }) => index));
  const leftOut = columns.filter((_column, index) => !isShown.has(index)).map(({ head }) => head);
  if (leftOut.length > 0) {
    printLines(`Left out: ${leftOut.join(', ')} (--json has all).`);
  }
}

/** Prints names and values, one pair per line. */
export function printFields(fields: Record<string, Cell>): void {
  const texts = Object.entries(fields).map(textsOf);
  printColumns(texts, widthsOf(texts).map(columnOf));
}

/** Returns an instant for a table, without milliseconds on a terminal. */
export function instantCell(instant: string | null): Cell {
  return terminalColumns() === null ? instant : (instant?.replace(/\.\d+Z$/, 'Z') ?? null);
}

function textsOf(row: readonly Cell[]): string[] {
  return row.map((cell) => escapeControls(String(cell ?? '-')));
}

function widthsOf(rows: readonly (readonly string[])[]): number[] {
  const widths: number[] = [];
  for (const row of rows) {
    row.forEach((text, column) => {
      widths[column] = Math.max(widths[column] ?? 0, widthOf(text));
    });
  }
  return widths;
}

function columnOf(width: number, index: number): FittedColumn {
  return { index, width };
}

/** Returns the lines of a row; a wrapped text makes several. */
function linesOf(
  row: readonly string[],
  columns: readonly Column[],
  shown: readonly FittedColumn[],
): string[][] {
  const cells = shown.map(({ index, width }) => {
    const text = row[index] ?? '';
    if (widthOf(text) <= width) {
      return [text];
    }
    return columns[index]?.fit === 'wrap'
      ? wrapAnsi(text, width, { hard: true }).split('\n')
      : [cut(text, width)];
  });
  const height = Math.max(...cells.map((lines) => lines.length));
  return Array.from({ length: height }, (_, line) => cells.map((lines) => lines[line] ?? ''));
}

function cut(text: string, width: number): string {
  const [start = ''] = wrapAnsi(text, width - 1, { hard: true, wordWrap: false, trim: false }).split('\n');
  return `${start}${ELLIPSIS}`;
}

function printColumns(rows: readonly (readonly string[])[], columns: readonly FittedColumn[]): void {
  const lines = rows.map((row) =>
    columns
      .map(({ index, width }) => {
        const text = row[index] ?? '';
        return text + ' '.repeat(Math.max(0, width - widthOf(text)));
      })
      .join(GAP)
      .trimEnd(),
  );
  process.stdout.write(`${lines.join('\n')}\n`);
}

/** Returns the width in columns of a terminal. The library alone would take seconds for a long table. */
function widthOf(text: string): number {
  return ASCII.test(text) ? text.length : stringWidth(text);
}
