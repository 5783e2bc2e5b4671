import { everyItem, type ResultPage } from './pages.js';

const LINE_END = '\r\n';

/**
 * Returns the text of a page as CSV, whose every line has an end.
 *
 * @throws SyntaxError
 */
export function parseCsv(text: string): string {
  if (!text.endsWith(LINE_END)) {
    throw new SyntaxError('The CSV is incomplete or malformed');
  }
  return text;
}

/**
 * Yields the CSV of all pages, the header line of the first only.
 *
 * @param list requests the first page, or the one that a cursor names.
 */
export async function* everyCsvPage(
  list: (from: { cursor?: string }) => Promise<ResultPage<string>>,
): AsyncGenerator<string, void, undefined> {
  let headerLength = 0;
  for await (const text of everyItem(list)) {
    yield text.slice(headerLength);
    headerLength = text.indexOf(LINE_END) + LINE_END.length;
  }
}
