import { CATALOGUE, type Explanation } from './catalogue';

/** A header of a response, with what it means. */
interface ExplainedHeader {
  /** Has its common capitals; `fetch` gives names in lower case. */
  name: string;
  value: string;
  explanation: Explanation;
}

/** Groups the headers about one thing. */
interface HeaderGroup {
  title: string;
  headers: ExplainedHeader[];
}

/**
 * Returns all headers of a response by group, the most telling ones first.
 * @param documented how the document describes headers, by their names in lower case, for those that the catalogue lacks.
 */
export function explainHeaders(
  headers: [name: string, value: string][],
  documented: Record<string, string>,
): HeaderGroup[] {
  const values = new Map(headers.map(([name, value]) => [name.toLowerCase(), value]));
  const other = (name: string) => values.get(name.toLowerCase()) ?? null;
  const known = Object.entries(CATALOGUE).map(([title, entries]) => ({
    title,
    headers: Object.entries(entries).flatMap(([name, entry]): ExplainedHeader[] => {
      const value = other(name);
      if (value === null) {
        return [];
      }
      const explanation = typeof entry === 'string' ? entry : entry(value, other);
      return [{ name, value, explanation: typeof explanation === 'string' ? [explanation] : explanation }];
    }),
  }));
  const unknown = [...values]
    .filter(([name]) => !KNOWN_NAMES.has(name))
    .map(([name, value]) => ({
      name: name.replaceAll(/(?<=^|-)[a-z]/g, (letter) => letter.toUpperCase()),
      value,
      explanation: [documented[name] ?? 'The console has no explanation of this header.'],
    }));
  return [...known, { title: 'Other', headers: unknown }].filter((group) => group.headers.length > 0);
}

const KNOWN_NAMES = new Set(
  Object.values(CATALOGUE)
    .flatMap(Object.keys)
    .map((name) => name.toLowerCase()),
);
