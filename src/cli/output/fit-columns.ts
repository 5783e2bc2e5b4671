/** A column of a table. */
export interface Column {
  head: string;
  /** On a narrow terminal, `cut` shortens the texts and `wrap` breaks them into lines. Without it, they stay whole. */
  fit?: 'cut' | 'wrap';
  /** On a narrow terminal, the column with the highest rank is left out first. A column without a rank is never left out. */
  rank?: number;
}

/** A column that is shown, and the width of its texts. */
export interface FittedColumn {
  /** Its position in the table. */
  index: number;
  width: number;
}

/** Spaces between two columns. */
export const GAP = '  ';
/** The minimum width of texts before a column is left out. */
const TEXT_MIN_WIDTH = 16;

/**
 * Returns the columns that fit a terminal, and their widths. Texts are narrowed first, then columns are left out. If the columns without
 * a rank do not fit, the table is wider than the terminal.
 *
 * @param widths the natural widths of the columns.
 */
export function fitColumns(
  columns: readonly Column[],
  widths: readonly number[],
  terminalWidth: number,
): FittedColumn[] {
  let shown = widths.map((width, index) => ({ index, width }));
  for (;;) {
    const narrowed = narrowTexts(columns, shown, terminalWidth);
    const last = lastRanked(columns, shown);
    if (widthOf(narrowed) <= terminalWidth || last === undefined) {
      return narrowed;
    }
    shown = shown.filter(({ index }) => index !== last.index);
  }
}

/** Narrows the widest text repeatedly until the table fits or no text can be narrower. */
function narrowTexts(
  columns: readonly Column[],
  shown: readonly FittedColumn[],
  terminalWidth: number,
): FittedColumn[] {
  const narrowed = shown.map((column) => ({ ...column }));
  const texts = narrowed.filter(({ index }) => columns[index]?.fit !== undefined);
  for (let excess = widthOf(narrowed) - terminalWidth; excess > 0; excess -= 1) {
    const widest = texts.reduce<FittedColumn | undefined>(
      (other, text) => (other === undefined || text.width > other.width ? text : other),
      undefined,
    );
    if (widest === undefined || widest.width <= TEXT_MIN_WIDTH) {
      break;
    }
    widest.width -= 1;
  }
  return narrowed;
}

function lastRanked(columns: readonly Column[], shown: readonly FittedColumn[]): FittedColumn | undefined {
  const rankOf = ({ index }: FittedColumn) => columns[index]?.rank ?? 0;
  const [last] = shown.filter((column) => rankOf(column) > 0).toSorted((a, b) => rankOf(b) - rankOf(a));
  return last;
}

function widthOf(columns: readonly FittedColumn[]): number {
  return columns.reduce((sum, { width }) => sum + width, GAP.length * (columns.length - 1));
}
