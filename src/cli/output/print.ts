import { getBorderCharacters, table, type TableUserConfig } from 'table';
import { escapeControls } from './escape-controls.js';

type Cell = string | number | boolean | null;

/** The option `--json` of commands that print something. */
export interface Format {
  json?: true | undefined;
}

/** Columns with two spaces between them, and no lines. */
const PLAIN: TableUserConfig = {
  border: getBorderCharacters('void'),
  columnDefault: { paddingLeft: 0, paddingRight: 2 },
  drawHorizontalLine: () => false,
};

/** Prints a value as one line of JSON with `--json`, else as a text for people. */
export async function print<Value>(
  value: Value,
  { json }: Format,
  printText: (value: Value) => void | Promise<void>,
): Promise<void> {
  if (json) {
    process.stdout.write(`${escapeControls(JSON.stringify(value))}\n`);
  } else {
    await printText(value);
  }
}

/** Prints sentences, one per line. */
export function printLines(...lines: string[]): void {
  process.stdout.write(`${lines.map(escapeControls).join('\n')}\n`);
}

/** Prints rows, of which each has the same columns. A null is printed as a dash, and an empty table as `None.` */
export function printTable(rows: Record<string, Cell>[]): void {
  const [first] = rows;
  if (first === undefined) {
    printLines('None.');
  } else {
    printColumns([Object.keys(first).map((name) => name.toUpperCase()), ...rows.map(Object.values)]);
  }
}

/** Prints names and values, one pair per line. */
export function printFields(fields: Record<string, Cell>): void {
  printColumns(Object.entries(fields));
}

function printColumns(rows: Cell[][]): void {
  const texts = rows.map((row) => row.map((cell) => escapeControls(String(cell ?? '-'))));
  process.stdout.write(table(texts, PLAIN).replaceAll(/ +$/gm, ''));
}
