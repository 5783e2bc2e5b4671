import { getBorderCharacters, table, type TableUserConfig } from 'table';

/** What a command prints: `value` as JSON for programs, or `text` for people. */
export interface Output {
  value: unknown;
  text: () => string | Promise<string>;
}

/** A null is shown as a dash. A column or field that is undefined is left out. */
type Cells = Record<string, string | number | boolean | null | undefined>;

/** Columns with two spaces between them, and no lines. */
const PLAIN: TableUserConfig = {
  border: getBorderCharacters('void'),
  columnDefault: { paddingLeft: 0, paddingRight: 2 },
  drawHorizontalLine: () => false,
};

/**
 * Control characters, and characters that change the direction of text and so can make one name look like
 * another.
 */
const CONTROLS = /[\p{Cc}\p{Bidi_Control}]/gu;

/**
 * Returns the text with its control characters escaped as in JSON, so that it is one line and cannot control
 * the terminal.
 */
export function escapeControls(text: string): string {
  return text.replace(CONTROLS, (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Returns the text with the control characters of each line escaped. */
export function escapeLines(text: string): string {
  return text.split('\n').map(escapeControls).join('\n');
}

/** Returns sentences, one per line. */
export function linesText(...lines: string[]): string {
  return lines.map((line) => `${escapeControls(line)}\n`).join('');
}

/** Returns rows with the same columns as a table; without rows, `None.` */
export function tableText(rows: Cells[]): string {
  const cells = rows.map(definedCells);
  const head = cells[0]?.map(([name]) => name.toUpperCase());
  return head === undefined
    ? linesText('None.')
    : columnsText([head, ...cells.map((row) => row.map(([, value]) => value))]);
}

/** Returns names and values, one pair per line. */
export function fieldsText(fields: Cells): string {
  return columnsText(definedCells(fields));
}

const definedCells = (cells: Cells) => Object.entries(cells).filter(([, value]) => value !== undefined);

function columnsText(rows: Cells[string][][]): string {
  const texts = rows.map((row) => row.map((cell) => escapeControls(String(cell ?? '-'))));
  return table(texts, PLAIN).replaceAll(/ +$/gm, '');
}
