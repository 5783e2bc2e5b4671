import { getBorderCharacters, table, type TableUserConfig } from 'table';
import { CONTROL_CHARACTERS } from '../../schemas/text-schemas.js';

/** What a command prints: `value` as JSON for programs, or `text`, and then warnings on standard error. */
export interface Output {
  value: unknown;
  text: () => string | Promise<string>;
  /** The value contains them too. */
  warnings?: readonly { message: string }[];
}

/** A null is shown as a dash. A column or field that is undefined is left out. */
type Cells = Record<string, string | number | boolean | null | undefined>;

const PLAIN: TableUserConfig = {
  border: getBorderCharacters('void'),
  columnDefault: { paddingLeft: 0, paddingRight: 2 },
  drawHorizontalLine: () => false,
};

/** Escapes control characters as JSON does, so that a text is one line and cannot control the terminal. */
export function escapeControls(text: string): string {
  return text.replace(
    CONTROL_CHARACTERS,
    (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

export function escapeLines(text: string): string {
  return text.split('\n').map(escapeControls).join('\n');
}

/** Shortens quoted values in a message, so that what it says about them is not lost. */
export function clipValues(message: string): string {
  return message.replaceAll(/(?<!\S)(["'])(?!\s)((?:(?!\1).){60})(?:(?!\1).){40,}(?=\1)/gsu, '$1$2…');
}

/** Returns CSV whose lines end as in RFC 4180, and in which other control characters are escaped. */
export function escapeCsv(csv: string): string {
  return csv.split('\r\n').map(escapeControls).join('\r\n');
}

export function linesText(...lines: string[]): string {
  return lines.map((line) => `${escapeControls(line)}\n`).join('');
}

/** Returns rows with the same columns as a table, times to the second; without rows, `None.` */
export function tableText(rows: Cells[]): string {
  const cells = rows.map(definedCells);
  const head = cells[0]?.map(([name]) => name.toUpperCase());
  return head === undefined
    ? linesText('None.')
    : columnsText([head, ...cells.map((row) => row.map(([, value]) => toSecond(value)))]);
}

export function fieldsText(fields: Cells): string {
  return columnsText(definedCells(fields));
}

const DATE_TIME = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.\d{3}Z$/;
const toSecond = (cell: Cells[string]) => (typeof cell === 'string' ? cell.replace(DATE_TIME, '$1Z') : cell);

const definedCells = (cells: Cells) => Object.entries(cells).filter(([, value]) => value !== undefined);

function columnsText(rows: Cells[string][][]): string {
  const texts = rows.map((row) => row.map((cell) => escapeControls(String(cell ?? '-'))));
  return table(texts, PLAIN).replaceAll(/ +$/gm, '');
}
