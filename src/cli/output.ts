import Table from 'cli-table3';

/** No lines: columns alone read well, and pass through other programs. */
const CHARS = Object.fromEntries(
  ['top', 'top-mid', 'top-left', 'top-right', 'bottom', 'bottom-mid', 'bottom-left', 'bottom-right']
    .concat(['left', 'left-mid', 'mid', 'mid-mid', 'right', 'right-mid', 'middle'])
    .map((name) => [name, name === 'middle' ? '  ' : '']),
);

export type Cell = string | number | boolean | null;

/** Prints one JSON text, for a program. */
export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

/** Prints rows in columns, for a person; a null is a dash, and no rows are said to be none. */
export function printTable(head: string[], rows: Cell[][]): void {
  if (rows.length === 0) {
    process.stdout.write('None.\n');
    return;
  }
  printRows([head.map((name) => name.toUpperCase()), ...rows]);
}

/** Prints facts, one to a line, for a person. */
export function printFacts(facts: Record<string, Cell>): void {
  printRows(Object.entries(facts));
}

function printRows(rows: Cell[][]): void {
  const table = new Table({
    chars: CHARS,
    style: { 'padding-left': 0, 'padding-right': 0, head: [], border: [] },
  });
  table.push(...rows.map((row) => row.map((cell) => String(cell ?? '-'))));
  const lines = table.toString().split('\n');
  process.stdout.write(`${lines.map((line) => line.trimEnd()).join('\n')}\n`);
}
