/**
 * A table in Markdown, padded so that it can be read as it is.
 *
 * @param {string[]} head of which a `>` at the begin puts the column to the right.
 * @param {string[][]} rows
 */
export function table(head, rows) {
  const isRight = head.map((cell) => cell.startsWith('>'));
  const all = [head.map((cell) => cell.replace(/^>/, '')), ...rows];
  const widths = head.map((_, column) => Math.max(3, ...all.map((cells) => cells[column].length)));
  const line = (cells) =>
    `| ${cells.map((cell, column) => (isRight[column] ? cell.padStart(widths[column]) : cell.padEnd(widths[column]))).join(' | ')} |`;
  const rule = widths.map((width, column) =>
    isRight[column] ? `${'-'.repeat(width - 1)}:` : '-'.repeat(width),
  );
  return [all[0], rule, ...all.slice(1)].map(line).join('\n');
}

/** Goals, and whether they were reached. */
export const goalTable = (goals) =>
  table(
    ['', '>goal', '>seen', ''],
    goals.map(({ what, goal, seen, reached }) => [what, goal, seen, reached ? 'reached' : '**not reached**']),
  );
