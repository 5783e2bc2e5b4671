/** The entries of a page, few enough for one statement. */
export const PAGE = 1000;

/** Reads all pages of a list, of which `read` returns the one after an entry, and returns their entries. */
export async function everyPage<Entry>(
  read: (limit: number, last: Entry | undefined) => Promise<Entry[]>,
): Promise<Entry[]> {
  const all: Entry[] = [];
  let page: Entry[];
  do {
    page = await read(PAGE, all.at(-1));
    all.push(...page);
  } while (page.length === PAGE);
  return all;
}
