/** The maximum number of entries of a page, which one statement reads quickly. */
const PAGE = 1000;

/** Returns the entries of all pages of a list; `read` returns the page after a position. */
export async function everyPage<Entry, Position = Entry>(
  read: (limit: number, after: Position | undefined) => Promise<{ entries: Entry[]; last: Position | null }>,
): Promise<Entry[]> {
  const all: Entry[] = [];
  let after: Position | undefined;
  do {
    const { entries, last } = await read(PAGE, after);
    all.push(...entries);
    after = last ?? undefined;
  } while (after !== undefined);
  return all;
}
