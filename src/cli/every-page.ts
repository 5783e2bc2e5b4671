const PAGE = 1000;

/** All entries of a list, read page by page. */
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
