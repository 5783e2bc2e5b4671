const PAGE = 1000;

/** Reads all pages of a list and returns their entries. */
export async function everyPage<Entry>(
  read: (limit: number, last: Entry | undefined) => Promise<{ entries: Entry[]; more: boolean }>,
): Promise<Entry[]> {
  const all: Entry[] = [];
  let more = true;
  while (more) {
    const page = await read(PAGE, all.at(-1));
    all.push(...page.entries);
    more = page.more && page.entries.length > 0;
  }
  return all;
}
